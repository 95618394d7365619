// When a finger or key came down, by the event itself where its word can be taken.

/** A page may be busy for so long and still mean what its events say. */
const STALE_MS = 5_000;
/** So far ahead of the page's own clock a stamp may be where the browser blurs one and not the other. */
const BLUR_MS = 100;

/**
 * The moment of an event, in milliseconds of `performance.now()`.
 *
 * Keyboards of an iPad stamp with 0, some browsers with a clock of their own, or with the stamp of the event before: such
 * a hand came down now, as far as anybody can tell.
 */
export function stampOf(event: Event, nowMs = performance.now()): number {
  const atMs = event.timeStamp;
  return atMs > 0 && atMs > nowMs - STALE_MS && atMs <= nowMs + BLUR_MS ? atMs : nowMs;
}
