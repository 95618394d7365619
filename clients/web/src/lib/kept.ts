// What this phone remembers: who you are, the key to your seats, the tables you can pick up again, and your choices.

import type { Choices } from "./choices.svelte";

export type Me = { name: string; face: string };
export type KeptTable = { code: string; seats: { name: string; face: string; wins: number }[] };

const MOST_TABLES = 8;
const FORGETFUL = new Map<string, string>();

// A browser may refuse storage altogether; then memory has to do until the page is left.
function read<T>(name: string, otherwise: T): T {
  try {
    const text = FORGETFUL.get(name) ?? localStorage.getItem(`slapjack:${name}`);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

function write(name: string, value: unknown): void {
  const text = JSON.stringify(value);
  try {
    localStorage.setItem(`slapjack:${name}`, text);
    FORGETFUL.delete(name);
  } catch {
    FORGETFUL.set(name, text);
  }
}

export const kept = {
  get me(): Me | null {
    return read<Me | null>("me", null);
  },
  set me(me: Me | null) {
    write("me", me);
  },
  get key(): string {
    return read("key", "");
  },
  set key(key: string) {
    write("key", key);
  },
  get choices(): Partial<Choices> {
    return read<Partial<Choices>>("choices", {});
  },
  set choices(choices: Choices) {
    write("choices", choices);
  },
  /** Everything, choices apart, as on a phone that was never here. */
  forget(): void {
    for (const name of ["me", "key", "tables"]) {
      FORGETFUL.delete(name);
      try {
        localStorage.removeItem(`slapjack:${name}`);
      } catch {
        // Nothing is stored where nothing may be.
      }
    }
  },
  get tables(): KeptTable[] {
    return read<KeptTable[]>("tables", []);
  },
  keepTable(table: KeptTable): void {
    write("tables", [table, ...this.tables.filter((t) => t.code !== table.code)].slice(0, MOST_TABLES));
  },
  dropTable(code: string): void {
    write(
      "tables",
      this.tables.filter((t) => t.code !== code),
    );
  },
};
