// What this person has chosen for this phone, remembered on it; where nothing was chosen, the phone's own way.

import { isLanguage, ownLanguage, speak } from "../messages";
import { kept, type Choices } from "./kept";

const AT_FIRST: Choices = {
  sound: true,
  haptics: true,
  voice: false,
  leftHand: false,
  fourColours: false,
  bigText: false,
  still: null,
  language: null,
  theme: null,
};

const FELT = { light: "#2a6b54", dark: "#10261f" };

class Chosen {
  all: Choices = $state.raw({ ...AT_FIRST, ...kept.choices });
  #dark = $state(false);
  #still = $state(false);

  readonly theme: "light" | "dark" = $derived(this.all.theme ?? (this.#dark ? "dark" : "light"));
  /** Whether nothing moves: a wish, or a browser that cannot. */
  readonly still: boolean = $derived((this.all.still ?? this.#still) || !("animate" in Element.prototype));

  constructor() {
    this.#follow("(prefers-color-scheme: dark)", (yes) => (this.#dark = yes));
    this.#follow("(prefers-reduced-motion: reduce)", (yes) => (this.#still = yes));
  }

  choose(change: Partial<Choices>): void {
    this.all = { ...this.all, ...change };
    kept.choices = this.all;
    if ("language" in change) void this.speak();
  }

  /** Speaks the chosen language; done once its words are here. */
  speak(): Promise<void> {
    const { language } = this.all;
    return speak(language && isLanguage(language) ? language : ownLanguage());
  }

  /** Puts the choices where the style sheet sees them. */
  dress(root: HTMLElement): void {
    root.dataset["theme"] = this.theme;
    root.toggleAttribute("data-still", this.still);
    root.toggleAttribute("data-left", this.all.leftHand);
    root.toggleAttribute("data-four-colours", this.all.fourColours);
    root.toggleAttribute("data-big", this.all.bigText);
    document.querySelector("meta[name=theme-color]")?.setAttribute("content", FELT[this.theme]);
  }

  #follow(query: string, tell: (yes: boolean) => void): void {
    const media = matchMedia(query);
    tell(media.matches);
    media.addEventListener("change", () => tell(media.matches));
  }
}

export const chosen = new Chosen();
