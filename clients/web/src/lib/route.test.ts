import { expect, it } from "vitest";
import { readRoute } from "./route.svelte";

it.each([
  ["/", { page: "home" }],
  ["/how", { page: "how" }],
  ["/t/ABC234", { page: "table", code: "ABC234" }],
  ["/tv/abc%20234", { page: "tv", code: "ABC234" }],
  ["/t/ABC", { page: "nowhere" }],
  ["/elsewhere/ABC234", { page: "nowhere" }],
])("%s leads somewhere", (path, route) => {
  expect(readRoute(path)).toEqual(route);
});

it.each(["/t/%", "/t/%E0%A4%A", "/tv/ABC23%", "/%/%"])("%s, which cannot be decoded, leads nowhere", (path) => {
  expect(readRoute(path)).toEqual({ page: "nowhere" });
});
