// Holds what the server says until its moment and shows it in the frame that comes nearest, in order (R3).

/** Everything here that time does, so that a test can be the time. */
export interface Screen {
  nowMs(): number;
  /** Calls back before the next painting, with that frame's time. Never, while the page is hidden. */
  frame(callback: (atMs: number) => void): void;
  later(callback: () => void, afterMs: number): () => void;
  hidden(): boolean;
}

/** Changes what is on the screen, and gives what wants to know when the change had been painted. */
export type Show = () => (paintedMs: number) => void;

/** A timer may be this late, and a frame this long: so long before the moment we begin to watch frames. */
const WATCH_MS = 40;

export class Reveal {
  #held: { showAtUs: number; show: Show }[] = [];
  #stopTimer: (() => void) | null = null;
  #watching = false;
  #lastFrameMs = -Infinity;
  #frameMs = 1000 / 60;

  /** `localMs` gives the phone's instant of a room's instant, or null while the room's clock is unknown. */
  constructor(
    private readonly screen: Screen,
    private readonly localMs: (roomUs: number) => number | null,
  ) {}

  /**
   * Shows something at `showAtUs` on the room's clock (0: at once), but never before what was pushed earlier.
   *
   * What `show` gives is told the time of the frame after the one that shows it: by then it stands on the screen.
   */
  push(showAtUs: number, show: Show): void {
    this.#held.push({ showAtUs, show });
    this.pump();
  }

  /** Forgets what is still held: a fresh view of everything is on its way. */
  clear(): void {
    this.#held = [];
  }

  /** Looks again at what is held. To be called when the page is hidden or shown. */
  pump(): void {
    this.#stopTimer?.();
    this.#stopTimer = null;
    if (this.screen.hidden()) {
      for (const { show } of this.#held.splice(0)) this.#afterFrames(2, show());
      return;
    }
    const head = this.#held[0];
    if (!head || this.#watching) return;
    const waitMs = this.#momentMs(head.showAtUs) - this.screen.nowMs();
    if (waitMs > WATCH_MS) {
      this.#stopTimer = this.screen.later(() => this.pump(), waitMs - WATCH_MS);
      return;
    }
    this.#watching = true;
    this.screen.frame((atMs) => {
      this.#watching = false;
      this.#measure(atMs);
      // What is shown in this frame stands on the screen one frame later.
      while (this.#held[0] && this.#momentMs(this.#held[0].showAtUs) <= atMs + 1.5 * this.#frameMs) {
        for (const { show } of this.#held.splice(0, 1)) this.#whenPainted(show());
      }
      this.pump();
    });
  }

  /**
   * A frame stands on the screen when the next one begins; but on a slow phone that one may have begun already while this
   * one was still being made, and then it is seen at the first beat after it was made.
   */
  #whenPainted(callback: (atMs: number) => void): void {
    let madeMs: number | null = null;
    this.screen.later(() => (madeMs = this.screen.nowMs()), 0);
    this.screen.frame((atMs) => {
      const behindMs = Math.max(0, (madeMs ?? this.screen.nowMs()) - atMs);
      callback(atMs + Math.ceil(behindMs / this.#frameMs) * this.#frameMs);
    });
  }

  #afterFrames(frames: number, callback: (atMs: number) => void): void {
    this.screen.frame((atMs) => {
      if (frames === 1) callback(atMs);
      else this.#afterFrames(frames - 1, callback);
    });
  }

  #momentMs(showAtUs: number): number {
    return (showAtUs && this.localMs(showAtUs)) || -Infinity;
  }

  #measure(atMs: number): void {
    const gapMs = atMs - this.#lastFrameMs;
    this.#lastFrameMs = atMs;
    if (gapMs >= 4 && gapMs <= 34) this.#frameMs += (gapMs - this.#frameMs) / 8;
  }
}
