import { fireEvent, render, screen } from "@testing-library/svelte";
import { expect, it, vi } from "vitest";
import type { Page, Row } from "../lib/wire";
import Leaderboard from "./Leaderboard.svelte";

const MIA = {
  rank: 1,
  name: "Mia",
  face: "🦊",
  you: false,
  games: 12,
  wins: 5,
  rate: 5 / 12,
  streak: 3,
  best_us: 231_400,
  median_us: null,
} as Row;

async function shown(row: Row, ...tapped: string[]): Promise<string | undefined> {
  const page: Page = { people: 1, pages: 1, rows: [row], you: null, at: 0, ends_s: 0 };
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json(page)));
  render(Leaderboard);
  for (const name of tapped) await fireEvent.click(await screen.findByRole("button", { name }));
  await screen.findByText("Mia");
  return document.querySelector("[data-row=Mia] strong")?.textContent;
}

it.each([
  ["Wins", "5"],
  ["Rate", "42 %"],
  ["Best", "231 ms"],
  ["Median", "–"],
  ["Streak", "3"],
  ["Games", "12"],
])("R30: shows %s as people read it", async (name, figure) => {
  expect(await shown(MIA, name)).toBe(figure);
});

it("R30: shows nothing for a figure of which a server of another version does not tell", async () => {
  const older: Partial<Row> = { ...MIA };
  delete older.rate;
  expect(await shown(older as Row, "Rate")).toBe("–");
});

it("R30: has no reactions for War, in which nothing is slapped", async () => {
  await shown(MIA, "War");
  expect(screen.queryByRole("button", { name: "Best" })).toBeNull();
  expect(screen.getByRole("button", { name: "Rate" })).toBeTruthy();
});
