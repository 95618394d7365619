// The real world behind `World` and `Screen`: this browser's clock, frames, timers, luck and socket.

import type { Socket, World } from "./connection";
import type { Screen } from "./reveal";

export function browser(code: string): World & Screen {
  const address = new URL(`/ws/${code}`, location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  return {
    nowMs: () => performance.now(),
    frame: (callback) => void requestAnimationFrame(callback),
    later: (callback, afterMs) => {
      const timer = setTimeout(callback, afterMs);
      return () => clearTimeout(timer);
    },
    random: () => Math.random(),
    dial: () => new WebSocket(address) as Socket,
    hidden: () => document.hidden,
  };
}
