// The real world behind `World` and `Screen`: this browser's clock, frames, timers, luck and socket.

import type { Socket, World } from "./connection";
import type { Screen } from "./reveal";

export function browser(code: string): World & Screen {
  const address = (node: string) => {
    const url = new URL(`${node && `/n/${node}`}/ws/${code}`, location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    return url;
  };
  return {
    nowMs: () => performance.now(),
    frame: (callback) => void requestAnimationFrame(callback),
    later: (callback, afterMs) => {
      const timer = setTimeout(callback, afterMs);
      return () => clearTimeout(timer);
    },
    random: () => Math.random(),
    dial: (node) => new WebSocket(address(node)) as Socket,
    hidden: () => document.hidden,
  };
}
