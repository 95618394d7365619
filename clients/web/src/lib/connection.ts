// One table's socket: joins, keeps the room's clock in step, and comes back by itself. Knows frames and nothing of play.

import { decode, encode } from "@msgpack/msgpack";
import { RoomClock } from "./clock";
import { CloseCode, PROTOCOL, type ClientMessage, type ServerMessage, type Join } from "./wire";

export type Status =
  | { is: "connecting"; lost: boolean; code: number }
  | { is: "open" }
  /** The join was refused; the socket stays open and `join` may be tried again. */
  | { is: "refused"; reason: string; detail: string }
  /** Over for good, `code` says why. */
  | { is: "closed"; code: number };

/** What a connection needs of a `WebSocket`. */
export type Socket = Pick<WebSocket, "binaryType" | "send" | "close" | "readyState"> & {
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
};

/** Time, luck and the network, so that a test can be all three. */
export interface World {
  nowMs(): number;
  later(callback: () => void, afterMs: number): () => void;
  random(): number;
  /** Calls back before the next painting. Never, while the page is hidden. */
  frame(callback: () => void): void;
  /** Opens a socket to the server of that name, or to whichever there is. */
  dial(node: string): Socket;
  hidden(): boolean;
}

const FINAL: readonly number[] = [
  CloseCode.MALFORMED,
  CloseCode.FOREIGN_ORIGIN,
  CloseCode.NO_SUCH_TABLE,
  CloseCode.SEAT_TAKEN_OVER,
  CloseCode.REMOVED,
  CloseCode.WRONG_VERSION,
];
const CROWDED: readonly number[] = [CloseCode.TOO_MANY, CloseCode.SERVER_FULL, CloseCode.ROOM_FAILED];

/** A server that stops (IANA's WebSocket Close Code Number Registry); another one is there already. */
const RESTARTS = 1012;
const SOON_MS = 200;
const MOST_HOPS = 3;
const NODE = /^[a-z0-9-]{1,32}$/;

const DIAL_MS = 8_000;
const FIRST_RETRY_MS = 300;
const CROWDED_RETRY_MS = 4_000;
const SLOWEST_RETRY_MS = 8_000;
const QUICK_SYNCS = 8;
const QUICK_SYNC_MS = 60;
const SYNC_MS = 3_000;
/** A question about the clock that stays unanswered for so long: the line is dead, whatever the socket says. */
const DEAD_MS = 3_000;
/** Until then it is asked again, so often. */
const DOUBT_MS = 500;
/** A touch comes to the page at most so long after the frame that follows it, and a message at once. */
const TOUCHES_MS = 8;
/** A timer so much behind its time: the phone was asleep. */
const ASLEEP_MS = 2_000;
const OPEN = 1;

export class Connection {
  readonly clock = new RoomClock();
  #socket: Socket | null = null;
  #joined = false;
  #everJoined = false;
  #refused = false;
  #tries = 0;
  #hops = 0;
  #nextUpdate: number | null = null;
  #asked = new Set<number>();
  #askedSinceMs: number | null = null;
  #quickLeft = 0;
  #stopTimer: (() => void) | null = null;
  #stopSync: (() => void) | null = null;

  constructor(
    private readonly world: World,
    private readonly join: () => Join,
    private readonly hear: (message: ServerMessage) => void,
    private readonly tell: (status: Status) => void,
  ) {}

  /** Connects, now, unless it is connected. */
  open(): void {
    if (!this.#socket) this.#dial(0);
  }

  /** Lets go of the socket and stops coming back, until `open`. */
  close(): void {
    this.#hangUp();
  }

  /** Says something to the table; false while nobody listens. */
  say(message: ClientMessage): boolean {
    if (!this.#joined || this.#socket?.readyState !== OPEN) return false;
    this.#send(message);
    return true;
  }

  /** Joins again on the open socket, after a refusal, or by a new one. */
  joinAgain(): void {
    if (this.#socket?.readyState === OPEN) this.#sayWho();
    else this.open();
  }

  /** The page is visible, or the network is back: what was known of the clock is worth nothing, and waiting is over. */
  wake(): void {
    this.#forgetClock();
    if (!this.#socket) {
      if (this.#stopTimer) this.#dial(0);
    } else if (this.#joined) {
      this.#quickLeft = QUICK_SYNCS;
      this.#sync();
    }
  }

  #dial(code: number, node = ""): void {
    this.#hangUp();
    this.#refused = false;
    this.tell({ is: "connecting", lost: this.#everJoined, code });
    const socket = this.world.dial(node);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.#sayWho();
    socket.onmessage = (event) => this.#receive(event.data);
    socket.onclose = (event) => this.#lost(event.code, event.reason);
    this.#socket = socket;
    this.#stopTimer = this.world.later(() => this.#lost(0), DIAL_MS);
  }

  /** A page that was left open while the server was renewed must not pass for one of now (P13). */
  #sayWho(): void {
    this.#send({ ...this.join(), protocol: PROTOCOL });
  }

  #hangUp(): void {
    this.#stopTimer?.();
    this.#stopSync?.();
    this.#stopTimer = this.#stopSync = null;
    this.#joined = false;
    this.#nextUpdate = null;
    this.#forgetClock();
    const socket = this.#socket;
    this.#socket = null;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  #lost(code: number, reason = ""): void {
    const wasIn = this.#joined;
    this.#hangUp();
    if (FINAL.includes(code)) {
      this.tell({ is: "closed", code });
      return;
    }
    // Somebody is thinking about another name: the next join dials again.
    if (this.#refused) return;
    if (code === CloseCode.MOVED && this.#hops < MOST_HOPS && NODE.test(reason)) {
      this.#hops++;
      this.#dial(code, reason);
      return;
    }
    this.#hops = 0;
    this.tell({ is: "connecting", lost: this.#everJoined, code });
    // Jitter keeps a whole table from knocking at the same instant when a server comes back.
    const firstMs = CROWDED.includes(code) ? CROWDED_RETRY_MS : FIRST_RETRY_MS;
    const slowMs = Math.min(SLOWEST_RETRY_MS, firstMs * 2 ** this.#tries++) * (0.5 + this.world.random() / 2);
    const waitMs = code === RESTARTS && wasIn ? SOON_MS * this.world.random() : slowMs;
    this.#stopTimer = this.world.later(() => this.#dial(code), waitMs);
  }

  #receive(data: unknown): void {
    let message: ServerMessage;
    try {
      message = decode(data as ArrayBuffer) as ServerMessage;
    } catch {
      this.#lost(0);
      return;
    }
    switch (message.t) {
      case "synced":
        this.#synced(message.sent_us, message.room_us);
        return;
      case "any_hand": {
        const answer = () => void this.say({ t: "all_said", game: message.game, nth: message.nth });
        if (this.world.hidden()) answer();
        else this.world.frame(() => void this.world.later(answer, TOUCHES_MS));
        return;
      }
      case "welcome":
        this.#stopTimer?.();
        this.#stopTimer = null;
        this.#joined = this.#everJoined = true;
        this.#refused = false;
        this.#tries = this.#hops = 0;
        this.tell({ is: "open" });
        this.#quickLeft = QUICK_SYNCS;
        this.#sync();
        break;
      case "refused":
        if (message.of === "join" && !this.#joined) {
          this.#stopTimer?.();
          this.#stopTimer = null;
          this.#refused = true;
          this.tell({ is: "refused", reason: message.reason, detail: message.detail });
          return;
        }
        break;
      case "update":
        if (this.#nextUpdate !== null && message.n !== this.#nextUpdate) {
          this.#lost(0);
          return;
        }
        this.#nextUpdate = message.n + 1;
        break;
    }
    this.hear(message);
  }

  #send(message: ClientMessage): void {
    if (this.#socket?.readyState === OPEN) this.#socket.send(encode(message, { ignoreUndefined: true }));
  }

  #sync(): void {
    this.#stopSync?.();
    const nowMs = this.world.nowMs();
    if (this.#askedSinceMs !== null && nowMs - this.#askedSinceMs > DEAD_MS && !this.world.hidden()) {
      this.#lost(0);
      return;
    }
    const sentUs = Math.round(nowMs * 1000);
    const unanswered = this.#askedSinceMs !== null;
    this.#asked.add(sentUs);
    this.#askedSinceMs ??= nowMs;
    this.#send({ t: "sync", sent_us: sentUs });
    const waitMs = this.#quickLeft > 0 ? QUICK_SYNC_MS : unanswered ? DOUBT_MS : SYNC_MS;
    this.#quickLeft = Math.max(0, this.#quickLeft - 1);
    this.#stopSync = this.world.later(() => {
      if (this.world.nowMs() - nowMs > waitMs + ASLEEP_MS) {
        this.#forgetClock();
        this.#quickLeft = QUICK_SYNCS;
      }
      this.#sync();
    }, waitMs);
  }

  #synced(sentUs: number, roomUs: number): void {
    if (!this.#asked.delete(sentUs)) return;
    this.#askedSinceMs = null;
    this.clock.add({ sentMs: sentUs / 1000, roomUs, receivedMs: this.world.nowMs() });
  }

  #forgetClock(): void {
    this.clock.forget();
    this.#asked.clear();
    this.#askedSinceMs = null;
  }
}
