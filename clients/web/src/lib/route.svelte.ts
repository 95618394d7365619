// Which page the address asks for.

import { isCode, readCode } from "./code";

export type Route =
  { page: "home" } | { page: "table"; code: string } | { page: "tv"; code: string } | { page: "nowhere" };

/** What somebody came for: `join` takes a seat unasked, `play_computer` seats a computer player too and starts. */
export type Errand = "join" | "play_computer" | null;

export function readRoute(path: string): Route {
  const [, page, rest] = path.split("/");
  if (!page) return { page: "home" };
  const code = readCode(decodeURIComponent(rest ?? ""));
  if ((page === "t" || page === "tv") && isCode(code)) return { page: page === "t" ? "table" : "tv", code };
  return { page: "nowhere" };
}

class Router {
  route = $state.raw(readRoute(location.pathname));
  errand: Errand = null;

  constructor() {
    addEventListener("popstate", () => this.#arrive());
  }

  go(path: string, errand: Errand = null): void {
    history.pushState(null, "", path);
    this.errand = errand;
    this.#arrive();
  }

  #arrive(): void {
    this.route = readRoute(location.pathname);
    scrollTo(0, 0);
  }
}

export const router = new Router();
