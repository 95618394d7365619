import { beforeEach, describe, expect, it } from "vitest";
import { FakeWorld, gameView, hand, seat, tableView, update } from "./fakes";
import { kept } from "./kept";
import { LiveTable } from "./live.svelte";
import type { AnyEvent, GameView, ServerMessage, TableView, Update, Verdict } from "./wire";

const AHEAD_US = 1_000_000;

/** Somebody at place 0 of a running game, with the room's clock known. */
function atTable(view: Partial<GameView> = {}, table: Partial<TableView> = {}) {
  const world = new FakeWorld();
  const live = new LiveTable("ABC234", { t: "join", name: "Mia", face: "🦊" }, world);
  live.open();
  const socket = world.socket;
  socket.opens();
  socket.hears({ t: "welcome", code: "ABC234", key: "secret", seat: "a", room_us: AHEAD_US, protocol: 3 });
  const asked = socket.of("sync").at(-1);
  socket.hears({ t: "synced", sent_us: asked?.sent_us ?? 0, room_us: (asked?.sent_us ?? 0) + AHEAD_US });
  let n = 1;
  socket.hears(update(n, { table: tableView(table), view: gameView(view) }));
  world.pass(32);
  const turned = (nth: number, face: string, showAtMs: number, by = 1, change: Partial<Update> = {}): void => {
    socket.hears(
      update(++n, {
        ...change,
        show_at_us: showAtMs * 1000 + AHEAD_US,
        events: [{ event: "card_turned", seat: by, nth, face }],
        view: gameView({ turned: nth, pile: nth, landed: [{ nth, face, seat: by }], turners: [0] }),
      }),
    );
  };
  return { world, live, socket, turned, next: () => ++n };
}

const JACK = [{ nth: 1, face: "JS", seat: 1 }];

/** The line breaks, and the socket after it is welcomed. */
function comesBack(world: FakeWorld, socket: FakeWorld["socket"]): void {
  socket.breaks();
  world.pass(1000);
  world.socket.opens();
  world.socket.hears({ t: "welcome", code: "ABC234", key: "secret", seat: "a", room_us: AHEAD_US, protocol: 3 });
  const asked = world.socket.of("sync").at(-1);
  world.socket.hears({ t: "synced", sent_us: asked?.sent_us ?? 0, room_us: (asked?.sent_us ?? 0) + AHEAD_US });
}

beforeEach(() => localStorage.clear());

describe("a newer server", () => {
  it("may say more than the page knows", () => {
    const { world, live, socket, turned, next } = atTable();
    const waved = { event: "waved", seat: 1 } as unknown as AnyEvent;
    socket.hears({ t: "waved", seat: "b" } as unknown as ServerMessage);
    socket.hears({ ...update(next(), { events: [waved], view: gameView() }), weather: "fine" } as Update);
    turned(1, "JS", 100);
    world.pass(200);
    expect(world.sockets).toHaveLength(1);
    expect(live.status).toEqual({ is: "open" });
    expect(live.view?.landed).toEqual(JACK);
    expect(live.note).toBeNull();
  });
});

describe("a slap", () => {
  it("that comes when the game is over, or just before, is no mistake to be told of", () => {
    const { world, live, socket, next } = atTable({}, { stage: "playing" });
    socket.hears({ t: "refused", of: "slap", reason: "too_late", rule: "R4", detail: "" });
    expect(live.note).toMatchObject({ refused: { reason: "too_late" } });
    socket.hears(update(next(), { table: tableView({ stage: "break" }), view: gameView({ end: "last_seat" }) }));
    world.pass(48);
    expect(live.note).toBeNull();
    socket.hears({ t: "refused", of: "slap", reason: "not_playing", rule: "", detail: "" });
    expect(live.note).toBeNull();
    socket.hears({ t: "refused", of: "slap", reason: "out", rule: "R8", detail: "" });
    expect(live.note).toMatchObject({ refused: { reason: "out" } });
  });

  it("R4: names the card that was seen and the time since it was painted, both on the phone's own clock", () => {
    const { world, live, socket, turned } = atTable();
    turned(1, "JS", 400);
    world.pass(700 - world.now);
    live.slap({ atMs: 697.5, side: "right", x: 10, y: 20 });
    // Held for 400, painted by the frame of 400 (frames come every 16 ms).
    expect(socket.of("slap")).toEqual([{ t: "slap", game: 1, nth: 1, reaction_us: 297_500, side: "right" }]);
  });

  it("P9: on a card found again after a lost line is timed from its first painting, and may be said again", () => {
    const { world, live, socket, turned } = atTable();
    turned(1, "JS", 100);
    world.pass(300 - world.now);
    live.slap({ atMs: 300, side: "left" });
    comesBack(world, socket);
    live.slap({ atMs: world.now, side: "left" });
    expect(world.socket.of("slap"), "before it is known what lies there now").toEqual([]);
    world.socket.hears(update(1, { table: tableView(), view: gameView({ turned: 1, pile: 1, landed: JACK }) }));
    world.pass(32);
    const [paintedMs] = socket.of("slap").map(({ reaction_us }) => 300 - (reaction_us ?? 0) / 1000);
    live.slap({ atMs: 1_600, side: "left" });
    expect(world.socket.of("slap")).toMatchObject([{ nth: 1, reaction_us: (1_600 - (paintedMs ?? 0)) * 1000 }]);
  });

  it("R13: on a card found again after a lost line may be called again as well", () => {
    const { world, live, socket, turned } = atTable();
    turned(1, "JS", 100);
    world.pass(300 - world.now);
    live.call(300);
    comesBack(world, socket);
    world.socket.hears(update(1, { table: tableView(), view: gameView({ turned: 1, pile: 1, landed: JACK }) }));
    world.pass(32);
    live.call(world.now);
    expect(world.socket.of("call")).toMatchObject([{ nth: 1 }]);
  });

  it.each([true, false])("P9: is timed anew on a card that is shown afresh; on a new socket: %s", (back) => {
    const { world, live, socket, turned, next } = atTable();
    turned(1, "JS", 100);
    world.pass(300 - world.now);
    live.slap({ atMs: 300, side: "left" });
    live.turn({ atMs: 310, side: "left" });
    if (back) comesBack(world, socket);
    const view = gameView({ turned: 1, pile: 1, landed: JACK, turners: [0] });
    const change = { show_at_us: (world.now + 50) * 1000 + AHEAD_US, table: tableView(), view };
    world.socket.hears(update(back ? 1 : next(), change));
    world.pass(80);
    expect(live.hand).toBeNull();
    expect(world.socket.of("shown").at(-1)).toMatchObject({ game: 1, nth: 1 });
    const before = world.socket.of("slap").length;
    live.slap({ atMs: world.now + 250, side: "left" });
    live.turn({ atMs: world.now + 260, side: "left" });
    const [slap] = world.socket.of("slap").slice(before);
    expect(slap?.reaction_us).toBeGreaterThanOrEqual(250_000);
    expect(slap?.reaction_us).toBeLessThanOrEqual(300_000);
    expect(world.socket.of("turn")).toHaveLength(back ? 1 : 2);
  });

  it("shows one's own hand at once, and it stays neutral until the dealer speaks", () => {
    const { world, live, socket, turned, next } = atTable();
    turned(1, "JS", 100);
    world.pass(300);
    live.slap({ atMs: world.now, side: "left", x: 5, y: 6 });
    world.pass(1);
    expect(live.hand).toMatchObject({ nth: 1, x: 5, y: 6 });
    const hands = [hand(1, 200), hand(0, 216)];
    const verdict: Verdict = { game: 1, nth: 1, winner: 1, hands, margin_us: 16_000, wait_us: 0 };
    const events = [{ event: "pile_won", seat: 1, nth: 1, cards: 1 }] as const;
    socket.hears(update(next(), { events, verdict, view: gameView({ turned: 1 }) }));
    world.pass(16);
    expect(live.hand).toBeNull();
    expect(live.table.verdict).toEqual(verdict);
    expect(live.flown.at(-1)).toMatchObject({ from: "pile", to: 1, cards: 1 });
  });

  it("R7c: a double tap is one slap; R15: the other hand is another", () => {
    const { world, live, socket, turned } = atTable();
    turned(1, "7S", 100);
    world.pass(300);
    live.slap({ atMs: world.now, side: "left" });
    live.slap({ atMs: world.now + 40, side: "left" });
    live.slap({ atMs: world.now + 60, side: "right" });
    expect(socket.of("slap").map((slap) => slap.side)).toEqual(["left", "right"]);
  });

  it("R7d: on an empty pile only the hand shows", () => {
    const { world, live, socket } = atTable();
    live.slap({ atMs: world.now, side: "" });
    world.pass(1);
    expect(socket.of("slap")).toEqual([]);
    expect(live.hand?.nth).toBe(0);
  });

  it("R7f: a hand that came down before the next card was painted is for the card before", () => {
    const { world, live, socket, turned } = atTable();
    turned(1, "JS", 100);
    turned(2, "7H", 900);
    world.pass(1_000);
    live.slap({ atMs: 890, side: "" });
    expect(socket.of("slap")[0]).toMatchObject({ nth: 1 });
  });
});

describe("a turn", () => {
  it("names the next number and the time since the card that it covers", () => {
    const { world, live, socket, turned } = atTable();
    turned(1, "4S", 304);
    world.pass(1_304 - world.now);
    live.turn({ atMs: 1_304, side: "left" });
    expect(socket.of("turn")).toEqual([{ t: "turn", game: 1, nth: 2, reaction_us: 1_000_000, side: "left" }]);
    live.turn({ atMs: 1_320, side: "left" });
    expect(socket.of("turn")).toHaveLength(1);
  });

  it("on an empty pile covers nothing", () => {
    const { world, live, socket } = atTable();
    live.turn({ atMs: world.now, side: "" });
    expect(socket.of("turn")).toEqual([{ t: "turn", game: 1, nth: 1, reaction_us: null, side: "" }]);
  });

  it("is not asked for out of turn, and may be asked for again after a refusal", () => {
    const { world, live, socket } = atTable({ turners: [2] });
    live.turn({ atMs: world.now, side: "" });
    expect(socket.of("turn")).toEqual([]);
    const other = atTable();
    other.live.turn({ atMs: 40, side: "" });
    other.socket.hears({ t: "refused", of: "turn", reason: "table_waits", rule: "R10", detail: "" });
    other.live.turn({ atMs: 90, side: "" });
    expect(other.socket.of("turn")).toHaveLength(2);
  });
});

describe("the reveal", () => {
  it("R3: reports how far from its moment a card was painted", () => {
    const { world, socket, turned } = atTable();
    turned(1, "JS", 407);
    world.pass(600);
    expect(socket.of("shown")).toEqual([{ t: "shown", game: 1, nth: 1, late_us: -7_000 }]);
  });

  it("reports no card whose hands nobody will judge, and times a hand on it all the same", () => {
    const { world, live, socket, turned } = atTable();
    turned(1, "4S", 400, 1, { say_shown: false });
    world.pass(700 - world.now);
    live.slap({ atMs: 697.5, side: "right" });
    expect(socket.of("shown")).toEqual([]);
    expect(socket.of("slap")[0]?.reaction_us).toBe(297_500);
  });

  it("P9: reports a card that it finds on coming, from when it came, and once", () => {
    const { world, socket, live, next } = atTable({ turned: 1, pile: 1, landed: JACK });
    expect(socket.of("shown")).toMatchObject([{ game: 1, nth: 1 }]);
    expect(socket.of("shown")[0]?.late_us, "a frame or two").toBeLessThanOrEqual(32_000);
    expect(socket.of("shown")[0]?.late_us).toBeGreaterThan(0);
    live.slap({ atMs: world.now, side: "" });
    const events = [{ event: "wrong_slap", seat: 1, nth: 1, paid: 1, to: 2 }] as const;
    socket.hears(update(next(), { events, view: gameView({ turned: 1, pile: 1, landed: JACK }) }));
    world.pass(32);
    comesBack(world, socket);
    world.socket.hears(update(1, { table: tableView(), view: gameView({ turned: 1, pile: 1, landed: JACK }) }));
    world.pass(32);
    expect([...socket.of("shown"), ...world.socket.of("shown")]).toHaveLength(1);
    const other = [{ nth: 2, face: "JH", seat: 1 }];
    comesBack(world, world.socket);
    world.socket.hears(update(1, { view: gameView({ turned: 2, pile: 2, landed: other }), say_shown: false }));
    world.pass(32);
    expect(world.socket.of("shown"), "where it is not asked for").toEqual([]);
  });

  it("comes back to the same seat with the same key, and says so calmly", () => {
    const { world, live } = atTable();
    expect(kept.key).toBe("secret");
    world.socket.breaks();
    expect(live.status).toMatchObject({ is: "connecting", lost: true });
    world.pass(300);
    world.socket.opens();
    expect(world.socket.of("join")[0]?.key).toBe("secret");
    world.socket.hears({ t: "welcome", code: "ABC234", key: "secret", seat: "a", room_us: 0, protocol: 3 });
    expect(live.note).toMatchObject({ refused: null });
    expect(live.status.is).toBe("open");
  });
});

describe("the host", () => {
  const lobby = (change: Partial<TableView["rules"]> = {}, table: Partial<TableView> = {}): Partial<Update> => ({
    table: tableView({ stage: "lobby", rules: { ...tableView().rules, ...change }, ...table }),
  });

  it("on a slow line changes the rules twice, and neither is lost", () => {
    const { world, live, socket, next } = atTable({}, { stage: "lobby" });
    const said = () => socket.of("set_rules").at(-1)?.rules;
    live.setRules({ queens: true });
    live.setRules({ doubles: true });
    expect(said()).toMatchObject({ queens: true, doubles: true });
    socket.hears(update(next(), lobby({ queens: true })));
    world.pass(32);
    live.setRules({ sandwiches: true });
    expect(said(), "of which the table has the first").toMatchObject({ queens: true, doubles: true, sandwiches: true });
    socket.hears(update(next(), lobby({ queens: true, doubles: true })));
    socket.hears(update(next(), lobby({ queens: true, doubles: true, sandwiches: true })));
    // Another page of the same host may have changed them since.
    socket.hears(update(next(), lobby({ calm: true })));
    world.pass(32);
    live.setRules({ queens: true });
    expect(said()).toMatchObject({ queens: true, doubles: false, calm: true });
  });

  it("builds no further on what was refused, was lost with the line or changed nothing", () => {
    const { world, live, socket } = atTable({}, { stage: "lobby" });
    live.setRules({ wrong_call: true });
    socket.hears({ t: "refused", of: "set_rules", reason: "bad_rules", rule: "", detail: "" });
    live.setRules({ queens: true });
    expect(socket.of("set_rules").at(-1)?.rules).toMatchObject({ wrong_call: false, queens: true });
    comesBack(world, socket);
    world.socket.hears(update(1, lobby()));
    world.pass(32);
    live.setRules({ queens: false });
    world.socket.hears(update(2, lobby({ calm: true })));
    world.pass(32);
    live.setRules({ doubles: true });
    expect(world.socket.of("set_rules").at(-1)?.rules).toMatchObject({ queens: false, doubles: true, calm: true });
  });

  it("on a slow line changes twice how games count, and neither is lost", () => {
    const { world, live, socket, next } = atTable({}, { stage: "lobby" });
    live.setCounting({ first_to: 5 });
    live.setCounting({ ranked: false });
    expect(socket.of("set_table").at(-1)).toEqual({ t: "set_table", first_to: 5, ranked: false });
    socket.hears({ t: "refused", of: "set_table", reason: "not_host", rule: "", detail: "" });
    live.setCounting({ first_to: 3 });
    expect(socket.of("set_table").at(-1)).toEqual({ t: "set_table", first_to: 3, ranked: true });
    socket.hears(update(next(), lobby({}, { first_to: 3 })));
    socket.hears(update(next(), lobby({}, { first_to: 7, ranked: false })));
    world.pass(32);
    live.setCounting({ first_to: 10 });
    expect(socket.of("set_table").at(-1)).toEqual({ t: "set_table", first_to: 10, ranked: false });
  });
});

it("a screen that anybody looks at leaves the phone's own key alone", () => {
  kept.key = "mine";
  const world = new FakeWorld();
  const live = new LiveTable("ABC234", { t: "join", name: "TV", face: "📺", watch: true }, world, undefined, true);
  live.open();
  world.socket.opens();
  expect(world.socket.of("join")[0]?.key).toBeUndefined();
  world.socket.hears({ t: "welcome", code: "ABC234", key: "its own", seat: null, room_us: 0, protocol: 3 });
  expect(kept.key).toBe("mine");
});

it("R24: nobody slaps a paused table", () => {
  const { world, live, socket, turned } = atTable({}, { paused: true, seats: [seat("a", 0), seat("b", 1)] });
  turned(1, "JS", 100);
  world.pass(300);
  live.slap({ atMs: world.now, side: "" });
  expect(socket.of("slap")).toEqual([]);
});

describe("the moment of the slap", () => {
  it("keeps the decided card and its hands in sight for 900 ms, unless another card comes first", () => {
    const { world, live, socket, turned, next } = atTable();
    turned(1, "JS", 100);
    world.pass(300);
    const verdict: Verdict = {
      game: 1,
      nth: 1,
      winner: 1,
      hands: [hand(1, 200), hand(0, 216)],
      margin_us: 16_000,
      wait_us: 0,
    };
    const won = { events: [{ event: "pile_won", seat: 1, nth: 1, cards: 1 }] as const, verdict };
    socket.hears(update(next(), { ...won, view: gameView({ turned: 1 }) }));
    world.pass(16);
    expect(live.moment).toMatchObject({ face: "JS", verdict });
    world.pass(850);
    expect(live.moment).not.toBeNull();
    world.pass(100);
    expect(live.moment).toBeNull();
  });

  it("says by how much a hand was too late that falls on bare felt", () => {
    const { world, live, socket, turned, next } = atTable();
    turned(1, "JS", 100);
    world.pass(300);
    const paintedMs = 96;
    const verdict: Verdict = { game: 1, nth: 1, winner: 1, hands: [hand(1, 200)], margin_us: null, wait_us: 0 };
    socket.hears(update(next(), { verdict, view: gameView({ turned: 1 }) }));
    world.pass(64);
    live.slap({ atMs: world.now, side: "" });
    expect(socket.of("slap")).toEqual([]);
    expect(live.note?.lateUs).toBe((world.now - paintedMs - 200) * 1000);
  });
});
