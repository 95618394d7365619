// A table's code as people type, paste or say it.

import { CODE_LENGTH, CODE_SYMBOLS } from "./wire";

/** The symbols of a code in what somebody typed: any case, spaces and dashes, or a whole pasted link. */
export function readCode(text: string): string {
  const fromLink = /\/(?:t|tv)\/([^/?#\s]+)/i.exec(text)?.[1];
  return [...(fromLink ?? text).toUpperCase()]
    .filter((symbol) => CODE_SYMBOLS.includes(symbol))
    .slice(0, CODE_LENGTH)
    .join("");
}

export function isCode(code: string): boolean {
  return code.length === CODE_LENGTH && readCode(code) === code;
}
