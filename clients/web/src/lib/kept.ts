// What this phone remembers: who you are, the key to your seats, the tables you can pick up again, and your choices.

import type { Language } from "../messages";

export type Choices = {
  sound: boolean;
  haptics: boolean;
  voice: boolean;
  leftHand: boolean;
  fourColours: boolean;
  bigText: boolean;
  /** Null is as the phone has it, for these three. */
  still: boolean | null;
  language: Language | null;
  theme: "light" | "dark" | null;
};
export type Me = { name: string; face: string };
export type KeptTable = { code: string; seats: { name: string; face: string; wins: number }[] };

const MOST_TABLES = 8;
const FORGETFUL = new Map<string, string>();

// A browser may refuse storage altogether; then memory has to do until the page is left. And what is found there may have
// been left by an older page, or by a person: whatever has another shape is as if it were not there.
function read<T>(name: string, is: (found: unknown) => found is T, otherwise: T): T {
  try {
    const text = FORGETFUL.get(name) ?? localStorage.getItem(`slapjack:${name}`);
    const found: unknown = text === null ? null : JSON.parse(text);
    return is(found) ? found : otherwise;
  } catch {
    return otherwise;
  }
}

function has(found: unknown, shape: Record<string, "string" | "number" | "boolean">): boolean {
  if (typeof found !== "object" || found === null) return false;
  const fields = found as Record<string, unknown>;
  return Object.entries(shape).every(([name, type]) => typeof fields[name] === type);
}

const PERSON = { name: "string", face: "string" } as const;
const isMe = (found: unknown): found is Me => has(found, PERSON);
const isText = (found: unknown): found is string => typeof found === "string";
const isTable = (found: unknown): found is KeptTable =>
  has(found, { code: "string" }) &&
  Array.isArray((found as KeptTable).seats) &&
  (found as KeptTable).seats.every((seat) => has(seat, { ...PERSON, wins: "number" }));
const isList = (found: unknown): found is unknown[] => Array.isArray(found);
const isRecord = (found: unknown): found is Record<string, unknown> => has(found, {}) && !Array.isArray(found);

const SWITCHES = ["sound", "haptics", "voice", "leftHand", "fourColours", "bigText"];
/** Whether that may be a choice of that name. */
function isChoice(name: string, value: unknown): boolean {
  if (SWITCHES.includes(name)) return typeof value === "boolean";
  if (name === "still") return value === null || typeof value === "boolean";
  if (name === "theme") return value === null || value === "light" || value === "dark";
  return name === "language" && (value === null || typeof value === "string");
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
    return read<Me | null>("me", isMe, null);
  },
  set me(me: Me | null) {
    write("me", me);
  },
  get key(): string {
    return read("key", isText, "");
  },
  set key(key: string) {
    write("key", key);
  },
  get choices(): Partial<Choices> {
    const found = Object.entries(read("choices", isRecord, {}));
    return Object.fromEntries(found.filter(([name, value]) => isChoice(name, value)));
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
    return read("tables", isList, []).filter(isTable);
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
