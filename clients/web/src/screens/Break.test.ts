import { fireEvent, render, screen } from "@testing-library/svelte";
import { tick } from "svelte";
import { beforeEach, expect, it } from "vitest";
import { FakeWorld, gameView, hand, seat, tableView, update } from "../lib/fakes";
import { LiveTable } from "../lib/live.svelte";
import type { RankedSlap, TableView } from "../lib/wire";
import Break from "./Break.svelte";

beforeEach(() => localStorage.clear());

const TALLY = { slaps: 4, average_ms: 412, best_ms: 331, wrong: 1 };

async function between(table: Partial<TableView> = {}, hands: RankedSlap[] = []) {
  const world = new FakeWorld();
  const live = new LiveTable("ABC234", { t: "join", name: "Mia", face: "🦊" }, world);
  live.open();
  const socket = world.socket;
  socket.opens();
  socket.hears({ t: "welcome", code: "ABC234", key: "secret", seat: "a", room_us: 0, protocol: 3 });
  socket.hears(
    update(1, {
      table: tableView({
        stage: "break",
        seats: [seat("a", 0, { tally: TALLY }), seat("b", 1)],
        winners: ["b"],
        next_deal_us: 1_000_000,
        ...table,
      }),
      view: gameView({ end: "last_seat" }),
      verdict: hands.length ? { game: 1, nth: 1, winner: 0, hands, margin_us: 16_000, wait_us: 0 } : null,
    }),
  );
  world.pass(48);
  render(Break, { live, link: "http://192.0.2.7:8000/t/ABC234", onleave: () => undefined });
  await tick();
  return { socket };
}

it("R31: offers the host a computer a tenth of a second slower than they were, and a quicker one", async () => {
  const { socket } = await between();
  await fireEvent.click(screen.getByRole("button", { name: /as quick as you/ }));
  await fireEvent.click(screen.getByRole("button", { name: /quicker/ }));
  expect(socket.of("add_computer").map((asked) => asked.reaction_ms)).toEqual([512, 362]);
});

it("R31: offers nothing to somebody whose hand never counted", async () => {
  await between({ seats: [seat("a", 0, { tally: { ...TALLY, slaps: 0 } }), seat("b", 1)] });
  expect(screen.queryByRole("button", { name: /as quick as you/ })).toBeNull();
});

it("says of one slap what it was, and of several the average and the best", async () => {
  const one = { slaps: 1, average_ms: 290, best_ms: 290, wrong: 0 };
  await between({
    seats: [seat("a", 0, { tally: TALLY }), seat("b", 1, { tally: one })],
    standings: ["a", "b"].map((id) => ({ name: id, face: "🦊", wins: 1, games: 2, seat: id })),
  });
  expect(screen.getByText("4 slaps, 412 ms on average, 331 ms at best · 1 wrong")).toBeTruthy();
  expect(screen.getByText("1 slap, 290 ms")).toBeTruthy();
});

it("R28: shows the wins of somebody who is not here", async () => {
  await between({ standings: [{ name: "Frieda", face: "🦉", wins: 6, games: 11, seat: null }] });
  const row = document.querySelector("[data-score=Frieda]");
  expect(row?.textContent).toContain("6 wins");
  expect(row?.textContent).toContain("not here");
});

it("R29: the champion may have a picture, and a rematch", async () => {
  await between({ champions: ["b"], first_to: 3 });
  expect(screen.getByRole("heading", { name: "B is the champion!" })).toBeTruthy();
  expect(screen.getByRole("button", { name: "Rematch" })).toBeTruthy();
  expect(screen.getByRole("button", { name: "Picture of the result" })).toBeTruthy();
});

it.each<[string, Partial<RankedSlap>, string]>([
  ["as it was said", {}, "The phone said 400 ms. Counted as it was said."],
  [
    "what the allowance paid for",
    { credit_us: 60_000, added_us: 27_000, accepted_us: 427_000 },
    "The phone said 400 ms. Its connection was slower than usual: 60 ms came out of its lag allowance. " +
      "27 ms were added: more than its connection and its allowance explain. Counted: 427 ms.",
  ],
  [
    "R32: the handicap",
    { handicap_us: 150_000, accepted_us: 550_000 },
    "The phone said 400 ms. 150 ms of handicap were added. Counted: 550 ms.",
  ],
  [
    "what no hand can be",
    { reaction_us: 20_000, added_us: 180_000, accepted_us: 200_000 },
    "The phone said 20 ms. Quicker than any hand can be: it was meant for the card before. Counted: 200 ms.",
  ],
  [
    "what had no time",
    { reaction_us: null },
    "The phone gave no time. The dealer went by when the hand arrived. Counted: 400 ms.",
  ],
])("the photo finish accounts for %s", async (_, change, words) => {
  await between({}, [hand(0, 400, change), hand(1, 620)]);
  await fireEvent.click(screen.getByRole("button", { name: /Photo finish/ }));
  await tick();
  expect(document.querySelector("dialog li p")?.textContent).toBe(words);
});
