// Everything said on a screen, as stores: `$lobby.start`. English is built in; other languages are files beside it.

import { browser, createI18n, localeFrom } from "@nanostores/i18n";
import * as en from "./en";

const AVAILABLE = ["en"] as const;

export const locale = localeFrom(browser({ available: AVAILABLE, fallback: "en" }));

const i18n = createI18n(locale, { get: () => Promise.resolve({}) });

export const home = i18n("home", en.home);
export const faces = i18n("faces", en.faces);
export const lobby = i18n("lobby", en.lobby);
export const rules = i18n("rules", en.rules);
export const switches = i18n("switches", en.switches);
export const switchNames = i18n("switchNames", en.switchNames);
export const choices = i18n("choices", en.choices);
export const presets = i18n("presets", en.presets);
export const presetSentences = i18n("presetSentences", en.presetSentences);
export const play = i18n("play", en.play);
export const dealer = i18n("dealer", en.dealer);
export const ranks = i18n("ranks", en.ranks);
export const suits = i18n("suits", en.suits);
export const finish = i18n("finish", en.finish);
export const pause = i18n("pause", en.pause);
export const ends = i18n("ends", en.ends);
export const joining = i18n("joining", en.joining);
export const trouble = i18n("trouble", en.trouble);
export const refusals = i18n("refusals", en.refusals);

/** What another language's file has to hold: `export default { … } satisfies Translation`. */
export type Translation = {
  [group in keyof typeof en]: {
    [key in keyof (typeof en)[group]]: (typeof en)[group][key] extends string ? string : string | Plural;
  };
};
type Plural = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };
