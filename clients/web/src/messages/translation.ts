// What every language has to hold.

import type * as en from "./en";

/** What another language's file has to hold: `export default { … } satisfies Translation`. */
export type Translation = {
  [group in keyof typeof en]: {
    [key in keyof (typeof en)[group]]: (typeof en)[group][key] extends string ? string : string | Plural;
  };
};
type Plural = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };
