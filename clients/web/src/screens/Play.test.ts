import { fireEvent, render, screen } from "@testing-library/svelte";
import { tick } from "svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { FakeWorld, gameView, hand, tableView, update } from "../lib/fakes";
import { LiveTable } from "../lib/live.svelte";
import { PRESETS, type GameView, type TableView, type Update } from "../lib/wire";
import Play from "./Play.svelte";

beforeEach(() => {
  localStorage.clear();
  // Cards that fly are a show for eyes; this page has none.
  vi.stubGlobal("matchMedia", () => ({ matches: true }));
});

/** The table as the seat at place 0 sees it, a card on the pile. */
async function atTable(view: Partial<GameView> = {}, table: Partial<TableView> = {}, change: Partial<Update> = {}) {
  const world = new FakeWorld();
  const live = new LiveTable("ABC234", { t: "join", name: "Mia", face: "🦊" }, world);
  live.open();
  const socket = world.socket;
  socket.opens();
  socket.hears({ t: "welcome", code: "ABC234", key: "secret", seat: "a", room_us: 0, protocol: 3 });
  socket.hears(
    update(1, {
      table: tableView(table),
      view: gameView({ turned: 1, pile: 1, landed: [{ nth: 1, face: "JS", seat: 1 }], ...view }),
      ...change,
    }),
  );
  world.pass(48);
  render(Play, { live, onleave: () => undefined });
  await tick();
  return { world, live, socket };
}

describe("the lower half of the screen", () => {
  it("slaps when a finger comes down, and shows the hand in the same frame", async () => {
    const { world, socket } = await atTable();
    await fireEvent.pointerDown(screen.getByRole("button", { name: "Slap" }), { clientX: 10, clientY: 20 });
    expect(socket.of("slap")).toMatchObject([{ game: 1, nth: 1, side: "left" }]);
    expect(screen.queryByTestId("own-hand"), "what a touch itself changes holds messages back").toBeNull();
    world.pass(1);
    await tick();
    expect(screen.getByTestId("own-hand")).toBeTruthy();
  });

  it("takes touches out of the browser's hands, or it would hold cards back while a finger is down", async () => {
    const { socket } = await atTable();
    const touches = async (name: string) => {
      const button = screen.getByRole("button", { name });
      const touch = { identifier: 1, clientX: 10, clientY: 10, target: button };
      const taken = !(await fireEvent.touchStart(button, { cancelable: true, changedTouches: [touch] }));
      await fireEvent.touchEnd(button, { changedTouches: [touch] });
      return taken;
    };
    HTMLDialogElement.prototype.showModal = vi.fn();
    expect(await touches("Slap")).toBe(true);
    expect(socket.of("slap"), "a hand counts when it comes down, not when it lifts").toEqual([]);
    expect(await touches("Table menu")).toBe(true);
    expect(HTMLDialogElement.prototype.showModal, "a tap is a click all the same").toHaveBeenCalledOnce();
  });

  it("slaps for a screen reader, which clicks without a finger", async () => {
    const { socket } = await atTable();
    await fireEvent.click(screen.getByRole("button", { name: "Slap" }), { detail: 0 });
    expect(socket.of("slap")).toHaveLength(1);
  });

  it("R21: turns in War, where there is nothing to slap", async () => {
    const { socket } = await atTable({ game: "war", landed: [], turned: 2, turners: [0, 1] });
    expect(screen.queryByRole("button", { name: "Slap" })).toBeNull();
    await fireEvent.pointerDown(screen.getByRole("button", { name: "Turn a card" }));
    expect(socket.of("turn")).toMatchObject([{ nth: 3 }]);
  });

  it("R13a: says “Jack!” where the call alone is the hand", async () => {
    const rules = { ...tableView().rules, say_jack: true };
    const { socket } = await atTable({}, { rules });
    await fireEvent.pointerDown(screen.getByRole("button", { name: "Say “Jack!”" }));
    expect(socket.of("slap")).toEqual([]);
    expect(socket.of("call")).toMatchObject([{ nth: 1 }]);
  });

  it("R8: is not there for somebody who is out", async () => {
    await atTable({ seats: [0, 26, 26].map((cards) => ({ cards, status: cards ? "in_play" : "out" })) });
    expect(screen.queryByRole("button", { name: "Slap" })).toBeNull();
    expect(screen.getByText("You are out. Watch the others.")).toBeTruthy();
  });
});

describe("keys", () => {
  it.each([
    ["Space", ""],
    ["KeyF", "left"],
    ["KeyJ", "right"],
  ])("%s slaps with the %j hand", async (code, side) => {
    const { socket } = await atTable();
    await fireEvent.keyDown(document.body, { code });
    await fireEvent.keyDown(document.body, { code, repeat: true });
    expect(socket.of("slap")).toMatchObject([{ side }]);
  });

  it("Enter turns", async () => {
    const { socket } = await atTable();
    await fireEvent.keyDown(document.body, { code: "Enter" });
    expect(socket.of("turn")).toMatchObject([{ nth: 2 }]);
  });

  it("R13: C calls", async () => {
    const { socket } = await atTable({}, { rules: { ...tableView().rules, call: true } });
    await fireEvent.keyDown(document.body, { code: "KeyC" });
    expect(socket.of("call")).toMatchObject([{ nth: 1 }]);
  });

  it("are a button's own where somebody has moved to it", async () => {
    const { socket } = await atTable();
    screen.getByRole("button", { name: "Table menu" }).focus();
    await fireEvent.keyDown(document.activeElement ?? document.body, { code: "Space" });
    expect(socket.of("slap")).toEqual([]);
  });
});

it("tells one's turn at once and the dealer's line in passing", async () => {
  await atTable();
  const [assertive] = [...document.querySelectorAll('[aria-live="assertive"]')];
  expect(assertive?.textContent).toBe("Your turn");
  expect(screen.getByTestId("dealer").getAttribute("role")).toBe("status");
});

it("R18: asks somebody who is out who was first", async () => {
  const seats = [0, 26, 26].map((cards) => ({ cards, status: cards ? ("in_play" as const) : ("out" as const) }));
  const question = { id: 7, game: 1, nth: 1, seats: [1, 2] as const, hands: [hand(1, 300), hand(2, 303)], until_us: 9 };
  const { socket } = await atTable({ seats }, {}, { question });
  await fireEvent.click(screen.getByRole("button", { name: /C was first/ }));
  expect(socket.of("point")).toEqual([{ t: "point", question: 7, seat: 2 }]);
});

it("R19: whoever has not answered may carry on", async () => {
  const { socket } = await atTable({ wait: "answers", answers: [0, 1], turners: [] }, { rules: PRESETS.calm.rules });
  await fireEvent.click(screen.getByRole("button", { name: "Carry on" }));
  expect(socket.of("carry_on")).toEqual([{ t: "carry_on", game: 1, nth: 1 }]);
});

it("draws the photo finish: every hand, one's own marked, and the margin", async () => {
  const verdict = {
    game: 1,
    nth: 1,
    winner: 1,
    hands: [hand(1, 412), hand(0, 446)],
    margin_us: 34_000,
    wait_us: 0,
  };
  await atTable({}, {}, { verdict });
  const finish = screen.getByRole("button", { name: /Photo finish/ });
  expect(finish.textContent).toContain("by 34 ms");
  expect(finish.querySelectorAll(".lane")).toHaveLength(2);
  expect(finish.querySelector(".lane.own")?.textContent).toContain("446 ms");
  expect(finish.querySelector(".lane.won")?.textContent).toContain("412 ms");
});
