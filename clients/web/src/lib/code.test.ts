import { expect, it } from "vitest";
import { hasOddSymbol, isCode, readCode } from "./code";

it.each([
  ["abc234", "ABC234"],
  [" abc 234 ", "ABC234"],
  ["ABC-234", "ABC234"],
  ["http://192.0.2.2:8000/t/abc234", "ABC234"],
  ["come to https://slapjack.example/t/ABC234?x=1 now", "ABC234"],
  ["ABC234567", "ABC234"],
  ["Play Slapjack with me. The table’s code is ABC234.", "ABC234"],
  ["Spiel Slapjack mit mir. Der Code des Tisches ist ABC234.", "ABC234"],
  ["0O1IL", ""],
])("reads %j as %j", (typed, code) => {
  expect(readCode(typed)).toBe(code);
});

it.each([
  ["abc 2-3", false],
  ["abO", true],
  ["1", true],
  ["Play Slapjack with me", false],
])("tells whether %j has a letter that no code has", (typed, odd) => {
  expect(hasOddSymbol(typed)).toBe(odd);
});

it("knows a whole code", () => {
  expect(isCode("ABC234")).toBe(true);
  expect(isCode("ABC23")).toBe(false);
  expect(isCode("abc234")).toBe(false);
});
