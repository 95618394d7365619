// How a message takes names and numbers.

import { count, params, strings, transform } from "@nanostores/i18n";

type Values = Record<string, number | string>;

/**
 * Puts values into `{places}`, all in one pass: a person may be called `{card}` or `$&`, and is shown as just that.
 * (The library's own `params` would take such a name for a place or a pattern.)
 */
export const fill = transform<[Values], string, string>((_locale, message, values) =>
  strings(message, (text) => text.replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place))),
) as unknown as typeof params;

export { count };
