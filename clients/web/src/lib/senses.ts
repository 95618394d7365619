// What can be heard and felt, beside what is seen: synthesised sounds, vibration, and the dealer's voice. Everything
// here may be missing or refused, and nothing depends on it.

import { chosen } from "./choices.svelte";
import type { AnyEvent, Seat } from "./wire";

export type Cue = "deal" | "turned" | "lift" | "slap" | "won" | "lost" | "wrong" | "yourTurn" | "over";

/** How a cue feels, in ms of shaking and rest. What others do is heard only. */
const SHAKES: Partial<Record<Cue, number | number[]>> = {
  lift: 8,
  slap: 18,
  won: [30, 50, 60],
  wrong: [90, 40, 90],
  yourTurn: 12,
};

/** What a happening sounds like to the seat `me`: the most telling of its events, and whose turn it has become. */
export function cuesOf(events: readonly AnyEvent[], me: Seat | null): Cue[] {
  return events.flatMap((event): Cue[] => {
    switch (event.event) {
      case "card_turned":
        return ["turned"];
      case "pile_won":
      case "battle_won":
        return [event.seat === me ? "won" : "lost"];
      case "wrong_slap":
      case "pile_shared":
        return event.seat === me ? ["wrong"] : [];
      case "game_over":
        return ["over"];
      default:
        return [];
    }
  });
}

/** Whether this page has been touched: before that a browser would only complain. Older ones do not say. */
function touched(): boolean {
  const activation = navigator.userActivation as UserActivation | undefined;
  return activation?.hasBeenActive ?? true;
}

export function cue(name: Cue): void {
  const shake = SHAKES[name];
  if (shake !== undefined && chosen.all.haptics && "vibrate" in navigator && touched()) navigator.vibrate(shake);
  if (chosen.all.sound && audio?.state === "running") SOUNDS[name](audio, audio.currentTime);
}

/** Reads something aloud, and drops what was being said: the dealer speaks of now. */
export function speakAloud(text: string): void {
  if (!chosen.all.voice || !text || !("speechSynthesis" in window)) return;
  speechSynthesis.cancel();
  speechSynthesis.speak(
    Object.assign(new SpeechSynthesisUtterance(text), { lang: document.documentElement.lang, rate: 1.1 }),
  );
}

let audio: AudioContext | null = null;
let noise: AudioBuffer | null = null;

/** Browsers let a page be heard from its first tap on. */
export function listenForFirstTap(): void {
  const unlock = (): void => {
    if (!("AudioContext" in window)) return;
    audio ??= new AudioContext();
    // An iPhone takes the sound away again when the page was hidden.
    if (audio.state !== "running") void audio.resume().catch(() => undefined);
  };
  for (const gesture of ["pointerup", "keydown"]) addEventListener(gesture, unlock, { passive: true });
}

const SOUNDS: Record<Cue, (at: AudioContext, now: number) => void> = {
  deal: (at, now) => {
    for (let card = 0; card < 7; card++) hiss(at, now + card * 0.07, 0.05, 2600 + card * 90, 0.1);
  },
  turned: (at, now) => hiss(at, now, 0.06, 3200, 0.16),
  lift: (at, now) => hiss(at, now, 0.04, 1500, 0.08),
  slap: (at, now) => {
    hiss(at, now, 0.09, 900, 0.6);
    tone(at, now, 110, 0.12, 0.4, "sine", 55);
  },
  won: (at, now) => {
    tone(at, now, 523, 0.14, 0.16);
    tone(at, now + 0.09, 659, 0.14, 0.16);
    tone(at, now + 0.18, 784, 0.26, 0.18);
  },
  lost: (at, now) => hiss(at, now, 0.22, 1200, 0.1),
  wrong: (at, now) => {
    tone(at, now, 196, 0.16, 0.14, "triangle");
    tone(at, now + 0.13, 156, 0.24, 0.14, "triangle");
  },
  yourTurn: (at, now) => tone(at, now, 880, 0.1, 0.06),
  over: (at, now) => {
    for (const [step, pitch] of [523, 659, 784, 1047].entries()) tone(at, now + step * 0.12, pitch, 0.3, 0.16);
  },
};

function fading(at: AudioContext, now: number, lengthS: number, loudness: number): GainNode {
  const gain = at.createGain();
  gain.gain.setValueAtTime(loudness, now);
  gain.gain.exponentialRampToValueAtTime(0.001, now + lengthS);
  gain.connect(at.destination);
  return gain;
}

function tone(
  at: AudioContext,
  now: number,
  pitchHz: number,
  lengthS: number,
  loudness: number,
  type: OscillatorType = "triangle",
  endHz = pitchHz,
): void {
  const string = at.createOscillator();
  string.type = type;
  string.frequency.setValueAtTime(pitchHz, now);
  string.frequency.exponentialRampToValueAtTime(endHz, now + lengthS);
  string.connect(fading(at, now, lengthS, loudness));
  string.start(now);
  string.stop(now + lengthS);
}

/** Paper on felt, or a palm on the table: noise around one pitch. */
function hiss(at: AudioContext, now: number, lengthS: number, pitchHz: number, loudness: number): void {
  if (!noise) {
    noise = at.createBuffer(1, at.sampleRate / 4, at.sampleRate);
    const samples = noise.getChannelData(0);
    for (let i = 0; i < samples.length; i++) samples[i] = Math.random() * 2 - 1;
  }
  const source = at.createBufferSource();
  source.buffer = noise;
  const band = at.createBiquadFilter();
  band.type = "bandpass";
  band.frequency.value = pitchHz;
  band.Q.value = 0.7;
  source.connect(band).connect(fading(at, now, lengthS, loudness));
  source.start(now);
  source.stop(now + lengthS);
}
