// Everything said on a screen, as stores: `$lobby.start`. English is built in, the others are loaded when wanted.

import { createI18n } from "@nanostores/i18n";
import { atom } from "nanostores";
import * as en from "./en";

export const LANGUAGES = { en: "English", de: "Deutsch", es: "Español", fr: "Français" } as const;
export type Language = keyof typeof LANGUAGES;

const FILES = {
  de: () => import("./de"),
  es: () => import("./es"),
  fr: () => import("./fr"),
};

export const locale = atom<Language>("en");

const i18n = createI18n<Language, "en">(locale, { get: () => Promise.resolve({}) });

/** Whether a language is one of ours. */
export function isLanguage(code: string): code is Language {
  return code in LANGUAGES;
}

/** The first language of this browser that we speak. */
export function ownLanguage(): Language {
  return navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find(isLanguage) ?? "en";
}

let wanted: Language = "en";

/** Says everything in that language from now on; where its file cannot be had, everything stays as it is. */
export async function speak(language: Language): Promise<void> {
  wanted = language;
  try {
    if (language !== "en") i18n.cache[language] ??= (await FILES[language]()).default as never;
    if (wanted === language) locale.set(language);
  } catch {
    // No network, and the file was never here before.
  }
}

export const home = i18n("home", en.home);
export const faces = i18n("faces", en.faces);
export const lobby = i18n("lobby", en.lobby);
export const claims = i18n("claims", en.claims);
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
export const troubles = i18n("troubles", en.troubles);
export const refusals = i18n("refusals", en.refusals);
export const conflicts = i18n("conflicts", en.conflicts);
export const settings = i18n("settings", en.settings);
export const how = i18n("how", en.how);
export const statements = i18n("statements", en.statements);
export const board = i18n("board", en.board);
export const move = i18n("move", en.move);
