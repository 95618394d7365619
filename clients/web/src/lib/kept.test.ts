import { beforeEach, describe, expect, it } from "vitest";
import { kept } from "./kept";

beforeEach(() => localStorage.clear());

const FOUND = [
  "",
  "null",
  "17",
  '"text"',
  "[]",
  "{}",
  '{"name":5}',
  "[null]",
  '[{"code":"ABC234","seats":null}]',
  "{broken",
];

describe("what is found in storage, of another shape", () => {
  it.each(FOUND)("%j is as if it were not there", (text) => {
    for (const name of ["me", "tables", "choices"]) localStorage.setItem(`slapjack:${name}`, text);
    localStorage.setItem("slapjack:key", text === '"text"' ? "7" : text);
    expect(kept.me).toBeNull();
    expect(kept.tables).toEqual([]);
    expect(kept.choices).toEqual({});
    expect(typeof kept.key).toBe("string");
  });

  it("a good part of it is kept", () => {
    localStorage.setItem("slapjack:choices", '{"sound":false,"theme":"plaid","still":"yes","older":1}');
    expect(kept.choices).toEqual({ sound: false });
    const good = { code: "ABC234", seats: [{ name: "Mia", face: "🦊", wins: 2 }] };
    localStorage.setItem("slapjack:tables", JSON.stringify([{ code: 4 }, good]));
    expect(kept.tables).toEqual([good]);
  });
});
