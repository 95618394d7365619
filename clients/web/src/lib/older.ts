// What older browsers lack and the page cannot do without; loaded before everything else (docs/field.md).

if (!("at" in Array.prototype)) {
  // Chromium before 92, Safari before 15.4, Firefox before 90.
  Object.defineProperty(Array.prototype, "at", {
    value<T>(this: T[], nth: number): T | undefined {
      return this[nth < 0 ? this.length + nth : nth];
    },
    writable: true,
    configurable: true,
  });
}

export {};
