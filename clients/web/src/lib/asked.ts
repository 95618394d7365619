// What the host has asked for and the table has not agreed to yet. The server is always told a whole part of the table,
// so on a slow line the next change builds on what was asked, and not on what was last heard. Pure.

export class Asked<Part extends object> {
  #last: Part | null = null;

  /** The whole part to ask for, with a change to what was asked last, or else to what the table `has`. */
  with(change: Partial<Part>, has: Part): Part {
    const next = { ...(this.#last ?? has), ...change };
    // What the table has already is not answered.
    if (this.#last || !same(next, has)) this.#last = next;
    return next;
  }

  /** The table has this now. */
  heard(has: Part): void {
    if (this.#last && same(this.#last, has)) this.#last = null;
  }

  /** What was asked is refused, or was lost with the line. */
  forget(): void {
    this.#last = null;
  }
}

function same<Part extends object>(one: Part, other: Part): boolean {
  return (Object.keys(one) as (keyof Part)[]).every((key) => one[key] === other[key]);
}
