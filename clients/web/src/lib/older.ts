// What older browsers lack and the page cannot do without; loaded before everything else (docs/field.md).

/** Gives every array a method that this browser does not know. */
function add(name: string, value: (this: unknown[], ...given: never[]) => unknown): void {
  if (name in Array.prototype) return;
  Object.defineProperty(Array.prototype, name, { value, writable: true, configurable: true });
}

// Chromium before 92, Safari before 15.4, Firefox before 90.
add("at", function (nth: number) {
  return this[nth < 0 ? this.length + nth : nth];
});

// Chromium before 97, Safari before 15.4, Firefox before 104.
add("findLast", function (fits: (item: unknown, nth: number, all: unknown[]) => unknown) {
  for (let nth = this.length - 1; nth >= 0; nth--) if (fits(this[nth], nth, this)) return this[nth];
  return undefined;
});
