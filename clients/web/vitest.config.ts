// Apart from vite.config.ts, so that building needs none of the tools for testing.
import { svelteTesting } from "@testing-library/svelte/vite";
import { defineConfig, mergeConfig } from "vitest/config";
import build from "./vite.config";

export default mergeConfig(
  build,
  defineConfig({
    plugins: [svelteTesting()],
    test: {
      environment: "happy-dom",
      include: ["src/**/*.test.ts"],
      restoreMocks: true,
      unstubGlobals: true,
    },
  }),
);
