// Which page the address asks for.

import { isCode, readCode } from "./code";

const PLAIN = ["leaderboard", "how", "settings", "move"] as const;
type Plain = (typeof PLAIN)[number];

export type Route = { page: "home" | "nowhere" | Plain } | { page: "table" | "tv"; code: string };

/** What somebody came for: `join` takes a seat unasked, `play_computer` seats a computer player too and starts. */
export type Errand = "join" | "play_computer" | null;

export function readRoute(path: string): Route {
  const [, page, rest] = path.split("/");
  if (!page) return { page: "home" };
  const plain = PLAIN.find((name) => name === page);
  if (plain) return { page: plain };
  const code = readCode(decoded(rest ?? ""));
  if ((page === "t" || page === "tv") && isCode(code)) return { page: page === "t" ? "table" : "tv", code };
  return { page: "nowhere" };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return ""; // such as a lone %
  }
}

class Router {
  route = $state.raw(readRoute(location.pathname));
  errand: Errand = null;
  #moved = false;

  constructor() {
    addEventListener("popstate", () => this.#arrive());
  }

  go(path: string, errand: Errand = null): void {
    history.pushState(null, "", path);
    this.errand = errand;
    this.#arrive();
  }

  /** Follows a link without loading the page again; a click that wants another tab is the browser's own. */
  follow = (event: MouseEvent & { currentTarget: HTMLAnchorElement }): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.go(event.currentTarget.pathname);
  };

  /** For the heading of a page: whoever came by keys or by ear goes on from there. */
  arrived = (heading: HTMLElement): void => {
    if (!this.#moved) return;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  };

  #arrive(): void {
    this.#moved = true;
    this.route = readRoute(location.pathname);
    scrollTo(0, 0);
  }
}

export const router = new Router();
