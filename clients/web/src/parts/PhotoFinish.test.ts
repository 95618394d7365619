import { render } from "@testing-library/svelte";
import { expect, it } from "vitest";
import { hand, seat } from "../lib/fakes";
import { NO_TABLE } from "../lib/table";
import type { RankedSlap } from "../lib/wire";
import PhotoFinish from "./PhotoFinish.svelte";

function marks(second: RankedSlap): (string | undefined)[] {
  const players = new Map([0, 1].map((place) => [place, seat(`s${String(place)}`, place)]));
  const verdict = { game: 1, nth: 1, winner: 0, hands: [hand(0, 300), second], margin_us: null, wait_us: 0 };
  const { container } = render(PhotoFinish, { table: { ...NO_TABLE, players }, verdict, me: 0 });
  const added = container.querySelectorAll<HTMLElement>(".finish .added");
  return [container.querySelector(".why")?.textContent, added[1]?.style.width];
}

it("marks what the dealer added to a hand, and nothing on a turn, which is none", () => {
  const corrected = { added_us: 40_000, accepted_us: 400_000 };
  expect(marks(hand(1, 360, corrected))).toEqual(["◩", expect.stringMatching(/^9\.\d+%$/)]);
  expect(marks(hand(1, 360, { ...corrected, cover: true }))).toEqual([undefined, "0%"]);
});
