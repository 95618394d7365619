// What a finger on the glass says beside where it is.

import type { Side } from "./wire";

/** Which hand a touch is taken for: the half of the screen it is on (R15). */
export function sideOf(event: PointerEvent): Side {
  return event.clientX < innerWidth / 2 ? "left" : "right";
}
