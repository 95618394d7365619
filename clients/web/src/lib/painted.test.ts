import { expect, it } from "vitest";
import { Paintings } from "./painted";

it("R7f: a hand is aimed at the card that was on the screen when it came down", () => {
  const paintings = new Paintings();
  paintings.add({ game: 1, nth: 1, atMs: 1_000 });
  paintings.add({ game: 1, nth: 2, atMs: 1_900 });
  expect(paintings.seenAt(1_899.9)).toEqual({ game: 1, nth: 1, atMs: 1_000 });
  expect(paintings.seenAt(1_900)).toEqual({ game: 1, nth: 2, atMs: 1_900 });
});

it("R7d: there is nothing to slap on an empty pile", () => {
  const paintings = new Paintings();
  expect(paintings.seenAt(5)).toBeNull();
  paintings.add({ game: 1, nth: 1, atMs: 10 });
  paintings.add({ game: 1, nth: 0, atMs: 20 });
  expect(paintings.seenAt(25)).toBeNull();
  expect(paintings.seenAt(15)?.nth).toBe(1);
});

it("a card keeps the time of its first painting", () => {
  const paintings = new Paintings();
  expect(paintings.add({ game: 1, nth: 1, atMs: 10 })).toBe(true);
  expect(paintings.add({ game: 1, nth: 1, atMs: 90 })).toBe(false);
  expect(paintings.seenAt(100)?.atMs).toBe(10);
});

it("P9: a card that is shown afresh has the time of its new painting", () => {
  const paintings = new Paintings();
  paintings.add({ game: 1, nth: 1, atMs: 10 });
  expect(paintings.add({ game: 1, nth: 1, atMs: 90 }, true)).toBe(true);
  expect(paintings.seenAt(100)?.atMs).toBe(90);
});

it("the first card of the next game is another card", () => {
  const paintings = new Paintings();
  paintings.add({ game: 1, nth: 1, atMs: 10 });
  paintings.add({ game: 2, nth: 1, atMs: 20 });
  expect(paintings.seenAt(30)).toEqual({ game: 2, nth: 1, atMs: 20 });
});
