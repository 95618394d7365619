import { describe, expect, it } from "vitest";
import { gameView, seat, tableView, update } from "./fakes";
import { after, claimable, clockwiseFrom, flights, isFull, myPlace, NO_TABLE, topCard } from "./table";
import { PRESETS, type Verdict } from "./wire";

const VERDICT: Verdict = { game: 1, nth: 3, winner: 1, hands: [], margin_us: null, wait_us: 0 };
const playing = after(after(NO_TABLE, update(1, { table: tableView() })), update(2, { view: gameView() }));

describe("an update", () => {
  it("leaves alone what it does not speak of", () => {
    const now = after(playing, update(3));
    expect(now.table).toBe(playing.table);
    expect(now.view).toBe(playing.view);
  });

  it("keeps the last verdict of a game, and what the dealer said last", () => {
    const events = [{ event: "pile_won", seat: 1, nth: 3, cards: 5 }] as const;
    let now = after(playing, update(3, { view: gameView(), events, verdict: VERDICT }));
    now = after(now, update(4, { view: gameView({ turned: 4 }) }));
    expect(now.verdict).toBe(VERDICT);
    expect(now.said?.events).toEqual(events);
  });

  it("that brings the whole table brings nothing of what was said while nobody listened", () => {
    const events = [{ event: "card_turned", seat: 1, nth: 3, face: "9S" }] as const;
    const before = after(playing, update(3, { view: gameView({ turned: 3 }), events, verdict: VERDICT }));
    const now = after(before, update(4, { table: tableView(), view: gameView({ turned: 9 }) }));
    expect(now.said).toBeNull();
    expect(now.verdict).toBe(VERDICT);
  });

  it("numbers a name that somebody before has, wherever it stands", () => {
    const named = (id: string, name: string) => seat(id, null, { name });
    const standing = (id: string | null) => ({ name: "Anna", face: "🦊", wins: 1, games: 2, seat: id });
    const seats = [named("a", "Anna"), named("b", "Anna 2"), named("c", "Anna"), named("d", "Anna")];
    const standings = [standing("d"), standing(null)];
    const { table } = after(NO_TABLE, update(1, { table: tableView({ seats, standings }) }));
    expect(table?.seats.map(({ name }) => name)).toEqual(["Anna", "Anna 2", "Anna 3", "Anna 4"]);
    expect(table?.standings.map(({ name }) => name)).toEqual(["Anna 4", "Anna"]);
  });

  it("clears the table for a new game", () => {
    const before = after(playing, update(3, { view: gameView(), verdict: VERDICT }));
    const now = after(before, update(4, { table: tableView({ game: 2 }) }));
    expect(now.view).toBeNull();
    expect(now.verdict).toBeNull();
  });

  it("still knows after the game who sat where", () => {
    const over = tableView({ stage: "break", seats: [seat("a", null), seat("b", null)] });
    const now = after(playing, update(3, { table: over }));
    expect(now.players.get(2)?.id).toBe("c");
    expect(myPlace(now, "b")).toBe(1);
  });

  it("R21: the two cards of a battle are seen although they are won in the same moment", () => {
    const events = [
      { event: "card_turned", seat: 0, nth: 1, face: "9S" },
      { event: "card_turned", seat: 1, nth: 2, face: "4D" },
      { event: "battle_won", seat: 0, cards: 2 },
    ] as const;
    let now = after(playing, update(3, { view: gameView({ game: "war", turned: 2 }), events }));
    now = after(now, update(4, { view: gameView({ game: "war", turned: 2, ready: [1] }) }));
    expect(now.battle.map((card) => card.face)).toEqual(["9S", "4D"]);
  });

  it("R19: carrying on does not wipe what the dealer said", () => {
    const events = [{ event: "wrong_slap", seat: 1, nth: 3, paid: 0, to: null }] as const;
    let now = after(playing, update(3, { view: gameView(), events }));
    now = after(now, update(4, { view: gameView(), events: [{ event: "carried_on", seat: 0, nth: 3 }] }));
    expect(now.said?.events).toEqual(events);
  });

  it("R18: a question stands until an update of the game comes without it", () => {
    const question = { id: 3, game: 1, nth: 3, seats: [0, 1] as const, hands: [], until_us: 9 };
    let now = after(playing, update(3, { view: gameView(), question }));
    now = after(now, update(4, { table: tableView({ watching: 1 }) }));
    expect(now.question).toEqual(question);
    now = after(now, update(5, { view: gameView() }));
    expect(now.question).toBeNull();
  });
});

it("the top card is the last landed one", () => {
  expect(topCard(playing)).toBeNull();
  const landed = [
    { nth: 4, face: "2S", seat: 0 },
    { nth: 5, face: "JH", seat: 1 },
  ];
  expect(topCard(after(playing, update(3, { view: gameView({ landed }) })))?.nth).toBe(5);
});

it("the others sit clockwise from one's own left; somebody watching sees them all", () => {
  expect(clockwiseFrom(playing, 1)).toEqual([2, 0]);
  expect(clockwiseFrom(playing, null)).toEqual([0, 1, 2]);
});

it("cards travel as the rules move them", () => {
  expect(
    flights([
      { event: "card_turned", seat: 0, nth: 1, face: "JS" },
      { event: "pile_won", seat: 2, nth: 1, cards: 9 },
      { event: "wrong_slap", seat: 1, nth: 1, paid: 1, to: 0 },
      { event: "wrong_slap", seat: 1, nth: 1, paid: 1, to: null },
      { event: "wrong_slap", seat: 1, nth: 1, paid: 0, to: null },
      { event: "pile_shared", seat: 0, nth: 1, shares: [0, 2, 1] },
    ]),
  ).toEqual([
    { from: "pile", to: 2, cards: 9, afterMs: 0, apartMs: 45 },
    { from: 1, to: 0, cards: 1, afterMs: 0, apartMs: 45 },
    { from: 1, to: "pile", cards: 1, afterMs: 0, apartMs: 45 },
    { from: "pile", to: 1, cards: 2, afterMs: 0, apartMs: 45 },
    { from: "pile", to: 2, cards: 1, afterMs: 0, apartMs: 45 },
  ]);
});

it("R1, R20, R21: a table is full when its rules have no seat left", () => {
  const ten = Array.from({ length: 10 }, (_, nth) => seat(String(nth), null));
  const full = (preset: keyof typeof PRESETS, seats: number) =>
    isFull(tableView({ rules: PRESETS[preset].rules, seats: ten.slice(0, seats) }));
  expect([full("standard", 9), full("standard", 10)]).toEqual([false, true]);
  expect([full("duel", 1), full("duel", 2), full("war", 2)]).toEqual([false, true, true]);
});

it("R28: somebody without a past here may be whoever is away and has one", () => {
  const standing = (id: string) => ({ name: id, face: "🦊", wins: 1, games: 2, seat: id });
  const seats = [
    seat("host", 0, { place: null }),
    seat("gone", null, { away: true }),
    seat("never", null, { away: true }),
    seat("robot", null, { kind: "computer", away: true }),
    seat("new", null),
    seat("old", null),
  ];
  const between = tableView({ stage: "lobby", seats, standings: ["gone", "old", "robot"].map(standing) });
  const names = (me: string | null) => claimable(between, me).map(({ id }) => id);
  expect([names(null), names("new"), names("old"), names("host")]).toEqual([["gone"], ["gone"], [], []]);
  const playing = tableView({ seats: [seat("host", 0), seat("gone", 1, { away: true }), seat("late", null)] });
  expect(claimable(playing, "late").map(({ id }) => id)).toEqual(["gone"]);
});
