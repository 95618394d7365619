// The few questions that are asked over plain HTTP.

/** Asks a question; gives the answer's body, or the server's reason why not, `unreachable` where it did not speak. */
export async function ask<Answer extends object>(
  path: string,
  init?: RequestInit,
): Promise<Answer | { error: string }> {
  try {
    const answer = await fetch(path, init);
    const body = (await answer.json()) as Answer & { error?: string };
    return answer.ok ? body : { error: body.error ?? "other" };
  } catch {
    return { error: "unreachable" };
  }
}

/** Opens a new table. */
export function openTable(): Promise<{ code: string } | { error: string }> {
  return ask("/api/tables", { method: "POST" });
}

/** The address that others reach this server by, which need not be the one in this phone's address bar. */
export async function inviteOrigin(): Promise<string> {
  const answer = await ask<{ origin: string }>("/api/invite");
  return "origin" in answer ? new URL(answer.origin).origin : location.origin;
}

/** One person's figures on the leaderboard (R30), as server/store/board.py gives them; reactions in µs. */
export type Row = {
  rank: number | null;
  name: string;
  face: string;
  games: number;
  wins: number;
  streak: number;
  best_us: number | null;
  median_us: number | null;
  you: boolean;
};
export type Board = { people: number; pages: number; rows: Row[]; you: Row | null };
export const SPANS = ["week", "month", "all"] as const;
export const ORDERS = ["wins", "rate", "best", "median", "streak", "games"] as const;
export type BoardOf = {
  game: "slapjack" | "duel" | "war";
  span: (typeof SPANS)[number];
  by: (typeof ORDERS)[number];
  page: number;
};

export function readBoard({ game, span, by, page }: BoardOf): Promise<Board | { error: string }> {
  return ask<Board>(`/api/leaderboard?${new URLSearchParams({ game, span, by, page: String(page) }).toString()}`);
}
