import { expect, it } from "vitest";
import { isCode, readCode } from "./code";

it.each([
  ["abc234", "ABC234"],
  [" abc 234 ", "ABC234"],
  ["ABC-234", "ABC234"],
  ["http://192.0.2.2:8000/t/abc234", "ABC234"],
  ["come to https://slapjack.example/t/ABC234?x=1 now", "ABC234"],
  ["ABC234567", "ABC234"],
  ["0O1IL", ""],
])("reads %j as %j", (typed, code) => {
  expect(readCode(typed)).toBe(code);
});

it("knows a whole code", () => {
  expect(isCode("ABC234")).toBe(true);
  expect(isCode("ABC23")).toBe(false);
  expect(isCode("abc234")).toBe(false);
});
