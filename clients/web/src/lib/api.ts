// The few questions that are asked over plain HTTP.

export type Opened = { code: string } | { error: string };

/** Opens a new table. `error` is in the server's words for a person, empty when the server was not reached. */
export async function openTable(): Promise<Opened> {
  try {
    const answer = await fetch("/api/tables", { method: "POST" });
    const body = (await answer.json()) as { code?: string; text?: string };
    return body.code ? { code: body.code } : { error: body.text ?? "" };
  } catch {
    return { error: "" };
  }
}
