// What a finger on the glass says beside where it is, and what it keeps the browser from.

import type { Side } from "./wire";

/** So far a finger may move and still have tapped, CSS pixels. */
const TAP_PX = 12;

/** Which hand a touch is taken for: the half of the screen it is on (R15). */
export function sideOf(event: PointerEvent): Side {
  return event.clientX < innerWidth / 2 ? "left" : "right";
}

/**
 * Takes all touches on an element out of the browser's hands, so that nothing waits while a finger is down.
 *
 * As long as a touch may still become a scroll or a click, Chromium holds back the page's messages and timers, for up to
 * 100 ms: a card would be painted when the finger that turned it has lifted. So the touch is spoken for at once, and what
 * the browser would have made of it is made here: a tap clicks its button, and a drag scrolls. A button that acts when
 * the finger comes down says so by an empty `data-hand`, and a dialog lies over the table: there the browser may take its time.
 */
export function ownTouches(element: HTMLElement): () => void {
  let finger: { id: number; x: number; y: number; button: HTMLElement | null; scroller: HTMLElement | null } | null =
    null;
  const of = (event: TouchEvent): Touch | undefined =>
    [...event.changedTouches].find((touch) => touch.identifier === finger?.id);

  const start = (event: TouchEvent): void => {
    const target = event.target as HTMLElement;
    if (!event.cancelable || target.closest("dialog")) return;
    event.preventDefault();
    const touch = event.changedTouches[0];
    if (!touch || finger || target.closest('[data-hand=""]')) return;
    finger = {
      id: touch.identifier,
      x: touch.clientX,
      y: touch.clientY,
      button: target.closest("button"),
      scroller: scrollerOf(target, element),
    };
  };
  const move = (event: TouchEvent): void => {
    const touch = of(event);
    if (!touch || !finger) return;
    const far = Math.hypot(touch.clientX - finger.x, touch.clientY - finger.y) > TAP_PX;
    if (finger.button && !far) return;
    finger.button = null;
    finger.scroller?.scrollBy(0, finger.y - touch.clientY);
    finger.y = touch.clientY;
  };
  const end = (event: TouchEvent): void => {
    if (!of(event)) return;
    if (event.type === "touchend") finger?.button?.click();
    finger = null;
  };

  // Svelte's own touch handlers are passive, and could not speak for the touch.
  element.addEventListener("touchstart", start, { passive: false });
  element.addEventListener("touchmove", move, { passive: true });
  for (const over of ["touchend", "touchcancel"] as const) element.addEventListener(over, end);
  return () => {
    element.removeEventListener("touchstart", start);
    element.removeEventListener("touchmove", move);
    for (const over of ["touchend", "touchcancel"] as const) element.removeEventListener(over, end);
  };
}

/** The nearest element around `from`, within `around`, that has more in it than it shows. */
function scrollerOf(from: HTMLElement, around: HTMLElement): HTMLElement | null {
  for (let at: HTMLElement | null = from; at && around.contains(at); at = at.parentElement) {
    if (at.scrollHeight > at.clientHeight && /auto|scroll/.test(getComputedStyle(at).overflowY)) return at;
  }
  return null;
}
