// A table's code as people type, paste or say it.

import { CODE_LENGTH, CODE_SYMBOLS } from "./wire";

const IN_A_SENTENCE = new RegExp(`(?<![A-Z0-9])[${CODE_SYMBOLS}]{${String(CODE_LENGTH)}}(?![A-Z0-9])`);

/** The symbols of a code in what somebody typed: any case, spaces and dashes, a whole pasted link or invitation. */
export function readCode(text: string): string {
  const fromLink = /\/(?:t|tv)\/([^/?#\s]+)/i.exec(text)?.[1];
  const pasted = fromLink ?? IN_A_SENTENCE.exec(text)?.[0];
  return [...(pasted ?? text).toUpperCase()]
    .filter((symbol) => CODE_SYMBOLS.includes(symbol))
    .slice(0, CODE_LENGTH)
    .join("");
}

/** Whether somebody has typed a letter or digit that no code has, because it looks like another. */
export function hasOddSymbol(text: string): boolean {
  return (
    text.trim().length <= 2 * CODE_LENGTH && /[a-z0-9]/i.test(text.replace(new RegExp(`[${CODE_SYMBOLS}]`, "gi"), ""))
  );
}

export function isCode(code: string): boolean {
  return code.length === CODE_LENGTH && readCode(code) === code;
}
