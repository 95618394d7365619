import { expect, it, vi } from "vitest";
import { cue, cuesOf } from "./senses";

it("a pile sounds otherwise to whoever won it", () => {
  const events = [{ event: "pile_won", seat: 1, nth: 4, cards: 9 }] as const;
  expect(cuesOf(events, 1)).toEqual(["won"]);
  expect(cuesOf(events, 0)).toEqual(["lost"]);
  expect(cuesOf(events, null)).toEqual(["lost"]);
});

it("R7: only one's own wrong slap is felt", () => {
  const events = [{ event: "wrong_slap", seat: 2, nth: 4, paid: 1, to: 0 }] as const;
  expect(cuesOf(events, 2)).toEqual(["wrong"]);
  expect(cuesOf(events, 0)).toEqual([]);
});

it("R3: a turned card sounds the same for every card, so that nobody hears a Jack", () => {
  const turned = (face: string) => cuesOf([{ event: "card_turned", seat: 0, nth: 1, face }], 0);
  expect(turned("JS")).toEqual(turned("2H"));
});

it("a browser that does not say whether it was touched vibrates, and plays on", () => {
  const vibrate = vi.fn();
  vi.stubGlobal("navigator", { vibrate });
  cue("won");
  expect(vibrate).toHaveBeenCalledOnce();
  vi.stubGlobal("navigator", { vibrate, userActivation: { hasBeenActive: false } });
  cue("won");
  expect(vibrate).toHaveBeenCalledOnce();
});
