// The room's clock as this phone knows it. Pure: every instant is handed in. It only times the reveal (R3); hands are
// never compared by it, and the phone's wall clock never enters.

/** One exchange: when the question left, what the room's clock said, when the answer came. */
export type Sample = { sentMs: number; roomUs: number; receivedMs: number };

const KEPT = 32;
/** How far two quartz clocks may drift apart: a sample is worth a little less with every second. */
const DRIFT = 50e-6;

/**
 * Estimates the offset between `performance.now()` (ms) and the room's clock (µs).
 *
 * An exchange bounds the offset to within half its round trip, so the estimate is the sample with the tightest bound,
 * ageing included: the lowest round trip wins, and an old one gives way as the clocks drift.
 */
export class RoomClock {
  #samples: Sample[] = [];

  add(sample: Sample): void {
    if (sample.receivedMs < sample.sentMs) return;
    this.#samples = [...this.#samples.slice(1 - KEPT), sample];
  }

  /** Throws every sample away: after a suspension the two clocks may have run apart. */
  forget(): void {
    this.#samples = [];
  }

  /** The phone's own instant (ms) of an instant of the room (µs), as best known at `nowMs`; null when unknown. */
  localMs(roomUs: number, nowMs: number): number | null {
    const offset = this.#offsetMs(nowMs);
    return offset === null ? null : roomUs / 1000 - offset;
  }

  /** The room's instant (µs) at `nowMs`; null when unknown. */
  roomUs(nowMs: number): number | null {
    const offset = this.#offsetMs(nowMs);
    return offset === null ? null : Math.round((nowMs + offset) * 1000);
  }

  #offsetMs(nowMs: number): number | null {
    let best: Sample | null = null;
    let tightest = Infinity;
    for (const sample of this.#samples) {
      const bound = rtt(sample) / 2 + DRIFT * (nowMs - sample.receivedMs);
      if (bound <= tightest) [best, tightest] = [sample, bound];
    }
    return best && best.roomUs / 1000 - (best.sentMs + best.receivedMs) / 2;
  }
}

function rtt(sample: Sample): number {
  return sample.receivedMs - sample.sentMs;
}
