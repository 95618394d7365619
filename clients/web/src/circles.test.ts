// No module needs itself: every import leads down, in Svelte files too.

import { expect, it } from "vitest";

const SOURCES = import.meta.glob<string>("./**/*.{ts,svelte}", { query: "?raw", import: "default", eager: true });

function importsOf(path: string): string[] {
  const folder = path.slice(0, path.lastIndexOf("/"));
  const named = [...(SOURCES[path] ?? "").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]*)"/g)].map(
    (found) => found[1] ?? "",
  );
  return named.flatMap((name) => {
    const at = new URL(`${folder}/${name}`, "file:///").pathname.slice(1).replace(/\/$/, "");
    return [`./${at}`, `./${at}.ts`, `./${at}/index.ts`, "./index.ts"].filter((one) => one in SOURCES).slice(0, 1);
  });
}

function circle(path: string, way: readonly string[] = []): string[] | null {
  if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
  if (done.has(path)) return null;
  for (const next of importsOf(path)) {
    const found = circle(next, [...way, path]);
    if (found) return found;
  }
  done.add(path);
  return null;
}

const done = new Set<string>();

it("has no circle", () => {
  expect(importsOf("./main.ts")).toContain("./App.svelte");
  expect(
    Object.keys(SOURCES)
      .map((path) => circle(path))
      .find(Boolean) ?? null,
  ).toBeNull();
});

it("has no module of more than 400 lines, but for words and what is generated", () => {
  const long = Object.entries(SOURCES).filter(
    ([path, text]) => text.split("\n").length > 401 && !path.startsWith("./messages/"),
  );
  expect(long.map(([path]) => path)).toEqual(["./lib/wire.ts"]);
});
