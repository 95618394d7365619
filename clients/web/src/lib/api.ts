// The few questions that are asked over plain HTTP.

import { kept } from "./kept";
import type { MoveResult, By, GameName, Me, Page, Span } from "./wire";

export type Failure = { error: string };

/** Asks a question; gives the answer's body, or the server's reason why not, `unreachable` where it did not speak. */
export async function ask<Answer extends object>(path: string, init?: RequestInit): Promise<Answer | Failure> {
  try {
    const answer = await fetch(path, init);
    const body = (answer.status === 204 ? {} : await answer.json()) as Answer & { error?: string };
    return answer.ok ? body : { error: body.error ?? "other" };
  } catch {
    return { error: "unreachable" };
  }
}

/** Opens a new table. */
export function openTable(): Promise<{ code: string } | Failure> {
  return ask("/api/tables", { method: "POST" });
}

/** The address that others reach this server by, which need not be the one in this phone's address bar. */
export async function inviteOrigin(): Promise<string> {
  const answer = await ask<{ origin: string }>("/api/invite");
  return "origin" in answer ? new URL(answer.origin).origin : location.origin;
}

/** A question about oneself; who that is says the key, which never stands in an address. */
function askAsMe<Answer extends object>(method: string, path: string, body?: object): Promise<Answer | Failure> {
  return ask(path, {
    method,
    headers: kept.key ? { authorization: `Bearer ${kept.key}` } : {},
    body: body ? JSON.stringify(body) : null,
  });
}

let met: Promise<void> | null = null;
let known = "";
const PATIENCE_MS = 2_000;

/**
 * Says who we are, once a visit: the cookie then lasts another year, and gives back a key that storage has lost.
 * Done when we know who we are, or cannot wait for it any longer.
 */
export function meet(): Promise<void> {
  met ??= askAsMe<Me>("POST", "/api/me", { key: kept.key }).then((me) => {
    if ("error" in me) return;
    known = `${me.face} ${me.name}`;
    kept.key ||= me.key;
    if (me.name) kept.me ??= { name: me.name, face: me.face };
  });
  if (kept.key) return Promise.resolve();
  return Promise.race([met, new Promise<void>((done) => setTimeout(done, PATIENCE_MS))]);
}

/** A table has taken this name and face, so that another phone may be told them too. */
export async function calledNow(name: string, face: string): Promise<void> {
  await met;
  if (known === `${face} ${name}`) return;
  known = `${face} ${name}`;
  await askAsMe<Me>("POST", "/api/me", { key: kept.key, name, face });
}

function settle(me: Me): void {
  kept.key = me.key;
  if (me.name) kept.me = { name: me.name, face: me.face };
}

/** A token that brings another phone to this person: once, and within ten minutes. */
export function offerLink(): Promise<{ token: string } | Failure> {
  return askAsMe("POST", "/api/me/link");
}

/** A code to write down that brings any phone to this person. An earlier one is void. */
export function giveRecovery(): Promise<{ code: string } | Failure> {
  return askAsMe("POST", "/api/me/recovery");
}

/** This phone is from now on the person's that a token or a recovery code leads to. */
export async function moveHere(way: { token: string } | { code: string }): Promise<MoveResult | Failure> {
  await meet();
  const arrival = await askAsMe<MoveResult>("POST", "/api/me/move", way);
  if (!("error" in arrival)) settle(arrival.me);
  return arrival;
}

/** This phone is again who it was before it was moved. */
export async function unlink(): Promise<Me | Failure> {
  const me = await askAsMe<Me>("POST", "/api/me/unlink");
  if (!("error" in me)) settle(me);
  return me;
}

/** The server forgets this person, and so does this phone. */
export async function forgetMe(): Promise<Failure | null> {
  const answer = await askAsMe<Record<string, never>>("DELETE", "/api/me");
  if ("error" in answer) return answer as Failure;
  kept.forget();
  met = null;
  return null;
}

/** Which page of which leaderboard (R30); `at` is that of the page before, or 0. */
export type BoardOf = { game: GameName; span: Span; by: By; page: number; at: number };

export function readBoard({ game, span, by, page, at }: BoardOf): Promise<Page | Failure> {
  return askAsMe<Page>(
    "GET",
    `/api/leaderboard?${new URLSearchParams({ game, span, by, page: String(page), at: String(at) }).toString()}`,
  );
}
