// A world for tests: time moves when told to, frames come every 16 ms, and the network is a list of sockets.

import { decode, encode } from "@msgpack/msgpack";
import type { Socket, World } from "./connection";
import type { Screen } from "./reveal";
import type { ClientMessage, ServerMessage, GameView, RankedSlap, TableSeat, TableView, Update } from "./wire";
import { PRESETS } from "./wire";

export class FakeSocket implements Socket {
  constructor(readonly node = "") {}

  binaryType: BinaryType = "blob";
  readyState: WebSocket["readyState"] = 0;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;
  readonly said: ClientMessage[] = [];

  send(frame: unknown): void {
    this.said.push(decode(frame as Uint8Array) as ClientMessage);
  }

  close(): void {
    this.readyState = 3;
  }

  opens(): void {
    this.readyState = 1;
    this.onopen?.();
  }

  hears(message: ServerMessage): void {
    this.onmessage?.({ data: encode(message) });
  }

  breaks(code = 1006, reason = ""): void {
    this.readyState = 3;
    this.onclose?.({ code, reason });
  }

  /** What was said of one kind. */
  of<T extends ClientMessage["t"]>(kind: T): Extract<ClientMessage, { t: T }>[] {
    return this.said.filter((message): message is Extract<ClientMessage, { t: T }> => message.t === kind);
  }
}

export const FRAME_MS = 16;

export class FakeWorld implements World, Screen {
  now = 0;
  isHidden = false;
  readonly sockets: FakeSocket[] = [];
  #timers: { atMs: number; callback: () => void }[] = [];
  #frames: ((atMs: number) => void)[] = [];

  nowMs = (): number => this.now;
  random = (): number => 1;
  hidden = (): boolean => this.isHidden;

  later = (callback: () => void, afterMs: number): (() => void) => {
    const timer = { atMs: this.now + afterMs, callback };
    this.#timers.push(timer);
    return () => (this.#timers = this.#timers.filter((other) => other !== timer));
  };

  frame = (callback: (atMs: number) => void): void => {
    this.#frames.push(callback);
  };

  dial = (node: string): Socket => {
    const socket = new FakeSocket(node);
    this.sockets.push(socket);
    return socket;
  };

  get socket(): FakeSocket {
    return this.sockets.at(-1) as FakeSocket;
  }

  /** Lets time pass, with its timers, and its frames unless the page is hidden. */
  pass(ms: number): void {
    const endMs = this.now + ms;
    while (this.now < endMs) {
      const frameMs = (Math.floor(this.now / FRAME_MS) + 1) * FRAME_MS;
      const timerMs = Math.min(...this.#timers.map((timer) => timer.atMs));
      this.now = Math.min(endMs, frameMs, Math.max(timerMs, this.now));
      for (const due of this.#timers.filter((timer) => timer.atMs <= this.now)) {
        this.#timers = this.#timers.filter((timer) => timer !== due);
        due.callback();
      }
      if (this.now === frameMs && !this.isHidden) for (const callback of this.#frames.splice(0)) callback(frameMs);
    }
  }

  /** The phone sleeps: time passes and nothing happens. */
  sleep(ms: number): void {
    this.now += ms;
  }
}

export function seat(id: string, place: number | null, change: Partial<TableSeat> = {}): TableSeat {
  return {
    id,
    name: id.toUpperCase(),
    face: "🦊",
    kind: "person",
    place,
    host: place === 0,
    away: false,
    wins: 0,
    rtt_ms: 0,
    handicap_ms: 0,
    reaction_ms: 0,
    tally: null,
    claimed: false,
    program: false,
    spread_ms: 0,
    slip_percent: 0,
    ...change,
  };
}

export function hand(place: number, reactionMs: number, change: Partial<RankedSlap> = {}): RankedSlap {
  const us = reactionMs * 1000;
  return {
    seat: place,
    reaction_us: us,
    accepted_us: us,
    path_us: 0,
    added_us: 0,
    credit_us: 0,
    handicap_us: 0,
    called: false,
    cover: false,
    ...change,
  };
}

export function tableView(change: Partial<TableView> = {}): TableView {
  return {
    code: "ABC234",
    stage: "playing",
    game: 1,
    rules: PRESETS.standard.rules,
    seats: [seat("a", 0), seat("b", 1), seat("c", 2)],
    watching: 0,
    locked: false,
    paused: false,
    held: false,
    dealer: "c",
    winners: [],
    next_deal_us: 0,
    asleep: false,
    first_to: 0,
    ranked: true,
    champions: [],
    removed: [],
    deserted: false,
    standings: [],
    ...change,
  };
}

export function gameView(change: Partial<GameView> = {}): GameView {
  return {
    game: "slapjack",
    turned: 0,
    seats: [18, 17, 17].map((cards) => ({ cards, status: "in_play" })),
    pile: 0,
    under: 0,
    landed: [],
    wait: "turn",
    turners: [0],
    answers: [],
    ready: [],
    empty: null,
    winners: [],
    end: null,
    ...change,
  };
}

export function update(n: number, change: Partial<Update> = {}): Update {
  return {
    t: "update",
    n,
    show_at_us: 0,
    events: [],
    view: null,
    verdict: null,
    question: null,
    table: null,
    say_shown: true,
    ...change,
  };
}
