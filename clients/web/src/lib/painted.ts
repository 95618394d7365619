// What lay on top of the pile, and since when, as this screen really showed it. A hand is aimed at what its owner saw
// (R7f), and its reaction runs from the frame that painted that card. Pure: instants (ms) are handed in.

/** A top card as it was painted; `nth` 0 is the empty pile. */
export type Painted = { game: number; nth: number; atMs: number };

const KEPT = 16;

export class Paintings {
  #kept: Painted[] = [];

  /** A frame at `atMs` painted card `nth` on top. False where it was there already, and is not shown `afresh` (P9). */
  add(painted: Painted, afresh = false): boolean {
    const last = this.#kept.at(-1);
    if (!afresh && last && last.game === painted.game && last.nth === painted.nth) return false;
    this.#kept = [...this.#kept.slice(1 - KEPT), painted];
    return true;
  }

  /** When that card was painted, if it is remembered. */
  paintedAt(game: number, nth: number): number | null {
    return this.#kept.findLast((painted) => painted.game === game && painted.nth === nth)?.atMs ?? null;
  }

  /** The card that a hand saw on top when it came down at `atMs`; null for an empty pile. */
  seenAt(atMs: number): Painted | null {
    const seen = this.#kept.findLast((painted) => painted.atMs <= atMs);
    return seen && seen.nth > 0 ? seen : null;
  }
}
