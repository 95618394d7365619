/// <reference types="vitest/config" />
import { gzipSync } from "node:zlib";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin, type Rolldown } from "vite";

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

// Where the game server is while the page is being worked on.
const server = process.env.SLAPJACK_DEV_SERVER ?? "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [svelte(), firstLoadBudget()],
  build: { assetsInlineLimit: 0, target: "es2022" },
  server: { proxy: { "/api": server, "/ws": { target: server, ws: true } } },
});
