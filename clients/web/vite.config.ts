/// <reference types="vitest/config" />
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, runnerImport, type Plugin, type Rolldown } from "vite";

const BUDGET_KB = 80;

/** Fails the build when the script of the first load, gzipped, has grown beyond the budget. */
function firstLoadBudget(): Plugin {
  return {
    name: "first-load-budget",
    apply: "build",
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((part): part is Rolldown.OutputChunk => part.type === "chunk");
      const first = new Set(chunks.filter((chunk) => chunk.isEntry).map((chunk) => chunk.fileName));
      for (const name of first) chunks.find((chunk) => chunk.fileName === name)?.imports.forEach((i) => first.add(i));
      const bytes = chunks
        .filter((chunk) => first.has(chunk.fileName))
        .reduce((sum, chunk) => sum + gzipSync(chunk.code).length, 0);
      const words = `first load: ${(bytes / 1000).toFixed(1)} kB of script gzipped, ${BUDGET_KB} allowed`;
      if (bytes > BUDGET_KB * 1000) this.error(words);
      this.info(words);
    },
  };
}

/** Every message of a tree, by its dotted name, with the places that it has for values. */
function messages(tree: unknown, name = ""): Map<string, string> {
  if (typeof tree === "string") return new Map([[name, [...new Set(tree.match(/\{\w+\}/g))].sort().join(" ")]]);
  const { transform, input, ...others } = tree as Record<string, unknown>;
  if (transform) return messages(input, name);
  // The forms of a plural are one message; which there are is the language's own affair.
  if (typeof others["other"] === "string" && "one" in others) return messages(others["other"], name);
  return new Map(Object.entries(others).flatMap(([key, value]) => [...messages(value, `${name}.${key}`)]));
}

/** Fails the build when a language lacks a message, has one too many, or a message has other places for values. */
function everyWord(languages: readonly string[]): Plugin {
  const read = async (code: string): Promise<Map<string, string>> => {
    const { module } = await runnerImport<{ default?: unknown }>(`./src/messages/${code}.ts`, { configFile: false });
    return messages(module.default ?? { ...module });
  };
  return {
    name: "every-word",
    apply: "build",
    async buildStart() {
      const english = await read("en");
      for (const code of languages) {
        const words = await read(code);
        const wrong = [
          ...[...english.keys()].filter((key) => !words.has(key)).map((key) => `lacks ${key}`),
          ...[...words.keys()].filter((key) => !english.has(key)).map((key) => `has ${key}, which nobody says`),
          ...[...words]
            .filter(([key, places]) => english.has(key) && english.get(key) !== places)
            .map(([key, places]) => `${key} has places for (${places}), English for (${english.get(key) ?? ""})`),
        ];
        if (wrong.length) this.error(`src/messages/${code}.ts ${wrong.join("; ")}`);
      }
    },
  };
}

/** Writes the service worker, which has to know the name of every file of the page. */
function offlineShell(): Plugin {
  return {
    name: "offline-shell",
    apply: "build",
    generateBundle(_options, bundle) {
      const files = ["/", ...Object.keys(bundle).filter((name) => name !== "index.html" && !name.endsWith(".mp4"))];
      const paths = files.map((name) => (name.startsWith("/") ? name : `/${name}`));
      const source = readFileSync("worker.js", "utf8");
      const version = createHash("sha256").update(source).update(paths.join()).digest("hex").slice(0, 12);
      this.emitFile({
        type: "asset",
        fileName: "worker.js",
        source: source.replace('"FILES"', JSON.stringify(paths)).replace("VERSION", version),
      });
    },
  };
}

// Where the game server is while the page is being worked on.
const server = process.env.SLAPJACK_DEV_SERVER ?? "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [svelte(), everyWord(["de", "es", "fr"]), firstLoadBudget(), offlineShell()],
  build: { assetsInlineLimit: 0, target: "es2022", license: { fileName: "licences.md" } },
  server: { proxy: { "/api": server, "/ws": { target: server, ws: true } } },
});
