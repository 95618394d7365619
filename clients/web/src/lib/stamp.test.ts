import { expect, it } from "vitest";
import { stampOf } from "./stamp";

const stamped = (timeStamp: number | undefined): Event => ({ timeStamp }) as Event;

it.each([
  ["as it should be", 8_990, 8_990],
  ["from a page that was busy", 6_000, 6_000],
  ["blurred, and so a little ahead", 9_080, 9_080],
  ["0, as from an iPad's keyboard", 0, 9_000],
  ["missing", undefined, 9_000],
  ["of the event before", 1_200, 9_000],
  ["of the wall clock", 1.79e12, 9_000],
  ["no number", Number.NaN, 9_000],
])("a stamp %s", (_, at, taken) => {
  expect(stampOf(stamped(at), 9_000)).toBe(taken);
});
