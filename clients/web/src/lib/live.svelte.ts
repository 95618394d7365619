// A table as it is lived on this phone: the socket, the room's clock, the reveal, and one's own hands. Everything that
// a screen shows is read from here, everything that a person does goes through here.

import { SvelteMap } from "svelte/reactivity";
import { Asked } from "./asked";
import { Connection, type Status, type World } from "./connection";
import { kept } from "./kept";
import { Paintings } from "./painted";
import { Reveal, type Screen } from "./reveal";
import { after, dealing, flights, myPlace, mySeat, NO_TABLE, topCard, type Flight, type Table } from "./table";
import type {
  Card,
  Emoji,
  ClientMessage,
  ServerMessage,
  Join,
  Refused,
  Rules,
  SeatId,
  Side,
  TableView,
  Update,
  Verdict,
} from "./wire";

/** A hand of one's own that has come down; `x` and `y` say where, in CSS pixels of the page, null for a key. */
export type OwnHand = { key: number; game: number; nth: number; x: number | null; y: number | null };
/** Where and when a finger or key came down. `atMs` is the event's own time stamp. */
export type Touch = { atMs: number; side: Side; x?: number; y?: number };
/** Something short for this person alone: a refusal, by how much a hand was too late, or that the line is back. */
export type Note = { key: number; refused: Refused | null; lateUs?: number };
/** A card that has just been decided, to be seen for a moment with every hand that came down on it. */
export type Moment = { key: number; face: Card; verdict: Verdict };

/** So long a decided card is seen, unless the next one comes first. */
const MOMENT_MS = 900;
/** A hand that comes so long after the first one has nothing to do with that card. */
const MISSED_US = 1_500_000;
export type Flown = Flight & { key: number };
export type Shout = { key: number; seat: SeatId | null; emoji: Emoji };
/** How the games of a table count (R29, R30). */
export type Counting = Pick<TableView, "first_to" | "ranked">;

export class LiveTable {
  status: Status = $state.raw({ is: "connecting", lost: false, code: 0 });
  me: SeatId | null = $state(null);
  table: Table = $state.raw(NO_TABLE);
  hand: OwnHand | null = $state.raw(null);
  /** The number of the card that this person has asked to turn and that has not been shown yet, 0 for none. */
  turning = $state(0);
  called = $state(0);
  note: Note | null = $state.raw(null);
  moment: Moment | null = $state.raw(null);
  flown: Flown[] = $state.raw([]);
  shouts: Shout[] = $state.raw([]);
  /** The server waits for its store, and the table with it. */
  holdOn = $state(false);
  /** Told to the host alone: seats whose hands are not what people's are, and how seldom honest hands look so. */
  readonly marked = new SvelteMap<SeatId, number>();

  seat = $derived(mySeat(this.table, this.me));
  place = $derived(myPlace(this.table, this.me));
  isHost = $derived(this.seat?.host ?? false);
  view = $derived(this.table.view);
  playing = $derived(this.table.table?.stage === "playing");
  stack = $derived(this.place === null ? null : (this.view?.seats[this.place] ?? null));
  inGame = $derived(this.playing && this.stack !== null && this.stack.status !== "out");
  ready = $derived(this.place !== null && (this.view?.ready.includes(this.place) ?? false));
  myTurn = $derived(this.inGame && this.place !== null && (this.view?.turners.includes(this.place) ?? false));
  mayAnswer = $derived(this.place !== null && (this.view?.answers.includes(this.place) ?? false));

  #connection: Connection;
  #reveal: Reveal;
  #paintings = new Paintings();
  #slapped: string[] = [];
  #rules = new Asked<Rules>();
  #counting = new Asked<Counting>();
  /** Whether the table has been shown since the last welcome. */
  #sees = false;
  /** `hand` and `turning` as they are; those are what is shown of them. */
  #hand: OwnHand | null = null;
  #turning = 0;
  #touchedMs = 0;
  #keys = 0;
  #join: Join;

  constructor(
    readonly code: string,
    join: Join,
    private readonly world: World & Screen,
    /** Told of every update once it is shown; for what a table is first asked to do. */
    private readonly shown: (live: LiveTable, update: Update) => void = () => undefined,
    /** A screen that anybody looks at has no seat and leaves the phone's own key alone. */
    private readonly anonymous = false,
  ) {
    this.#join = join;
    this.#connection = new Connection(
      world,
      () => (this.anonymous ? this.#join : { ...this.#join, key: kept.key }),
      (message) => this.#hear(message),
      (status) => this.#tell(status),
    );
    this.#reveal = new Reveal(world, (roomUs) => this.#connection.clock.localMs(roomUs, world.nowMs()));
  }

  open(): void {
    this.#connection.open();
  }

  close(): void {
    this.#reveal.clear();
    this.#connection.close();
  }

  /** The page is visible again, or the network is back. */
  wake(): void {
    this.#connection.wake();
    this.#reveal.pump();
  }

  /** The page is hidden: nothing is painted from now on, so nothing is held. */
  sleep(): void {
    this.#reveal.pump();
  }

  joinAs(join: Partial<Pick<Join, "name" | "face" | "watch">>): void {
    this.#join = { ...this.#join, ...join };
    this.#connection.joinAgain();
  }

  /** Milliseconds from now until an instant of the room, 0 once it has passed or while the clock is unknown. */
  msUntil(roomUs: number): number {
    const nowMs = this.world.nowMs();
    return Math.max(0, (this.#connection.clock.localMs(roomUs, nowMs) ?? nowMs) - nowMs);
  }

  say(message: ClientMessage): void {
    this.#connection.say(message);
  }

  // --- the host ------------------------------------------------------------------------------------------------------

  setRules(change: Partial<Rules>): void {
    const { table } = this.table;
    if (table) this.say({ t: "set_rules", rules: this.#rules.with(change, table.rules) });
  }

  setCounting(change: Partial<Counting>): void {
    const { table } = this.table;
    if (!table) return;
    const { first_to, ranked } = table;
    this.say({ t: "set_table", ...this.#counting.with(change, { first_to, ranked }) });
  }

  // --- hands ---------------------------------------------------------------------------------------------------------

  /** A hand comes down on what this person saw on top. The hand print is theirs at once; whose pile it is, is not. */
  slap(touch: Touch): void {
    if (!this.#sees || !this.inGame || this.table.table?.paused) return;
    const seen = this.#paintings.seenAt(touch.atMs);
    this.#touchedMs = touch.atMs;
    const [game, nth] = [seen?.game ?? 0, seen?.nth ?? 0];
    this.#hand = { key: ++this.#keys, game, nth, x: touch.x ?? null, y: touch.y ?? null };
    this.#afterTouch();
    if (!seen) {
      this.#missed();
      return;
    }
    // A second touch on the same card changes nothing (R7c), unless it is the other hand (R15).
    const once = `${seen.game}.${seen.nth}.${touch.side}`;
    if (this.#slapped.includes(once)) return;
    this.#slapped.push(once);
    this.say({ t: "slap", game, nth, reaction_us: reactionUs(touch.atMs, seen.atMs), side: touch.side });
  }

  turn(touch: Touch): void {
    const game = this.table.table?.game;
    if (!this.myTurn || !this.view || game === undefined) return;
    const nth = this.view.turned + 1;
    if (this.#turning === nth) return;
    const top = topCard(this.table);
    const seen = this.#paintings.seenAt(touch.atMs);
    const reaction_us = top && seen ? reactionUs(touch.atMs, seen.atMs) : null;
    this.#turning = nth;
    this.#afterTouch();
    this.say({ t: "turn", game, nth, reaction_us, side: touch.side });
  }

  /** Says by how much the last hand was too late for the card that has just been decided; false where that is unknown. */
  #missed(): boolean {
    const { verdict } = this.table;
    const first = verdict?.hands.find((hand) => hand.seat === verdict.winner && !hand.cover);
    const paintedMs = verdict && this.#paintings.paintedAt(verdict.game, verdict.nth);
    if (!first || paintedMs === null || verdict?.hands.some((hand) => hand.seat === this.place)) return false;
    const lateUs = reactionUs(this.#touchedMs, paintedMs) - first.accepted_us;
    if (lateUs <= 0 || lateUs > MISSED_US) return false;
    this.note = { key: ++this.#keys, refused: null, lateUs };
    return true;
  }

  call(atMs: number): void {
    const seen = this.#paintings.seenAt(atMs);
    if (!this.inGame || !seen || this.called === seen.nth) return;
    this.called = seen.nth;
    this.say({ t: "call", game: seen.game, nth: seen.nth, reaction_us: reactionUs(atMs, seen.atMs) });
  }

  carryOn(): void {
    const top = topCard(this.table);
    if (top && this.mayAnswer) this.say({ t: "carry_on", game: this.table.table?.game ?? 0, nth: top.nth });
  }

  /**
   * Shows them, in the next frame all the same: but what a touch itself changes makes Chromium hold messages back until
   * that frame, and the card that was turned would be painted one later.
   */
  #afterTouch(): void {
    this.world.later(() => this.#showHands(), 0);
  }

  #showHands(): void {
    this.hand = this.#hand;
    this.turning = this.#turning;
  }

  landed(key: number): void {
    this.flown = this.flown.filter((flight) => flight.key !== key);
  }

  faded(key: number): void {
    this.shouts = this.shouts.filter((shout) => shout.key !== key);
  }

  // --- what the server says --------------------------------------------------------------------------------------------

  #tell(status: Status): void {
    const back = status.is === "open" && this.status.is === "connecting" && this.status.lost;
    this.status = status;
    if (back) this.note = { key: ++this.#keys, refused: null };
    if (status.is !== "open") {
      this.holdOn = false;
      this.#reveal.clear();
      this.#turning = 0;
      this.#showHands();
    }
  }

  #hear(message: ServerMessage): void {
    switch (message.t) {
      case "welcome":
        this.me = message.seat;
        // What the last socket took with it may be said again, once it is seen what lies there now.
        this.#slapped = [];
        this.called = 0;
        this.#rules.forget();
        this.#counting.forget();
        this.#sees = false;
        if (!this.anonymous) kept.key = message.key;
        break;
      case "seated":
        this.me = message.seat;
        break;
      case "update": {
        const cameMs = this.world.nowMs();
        this.#reveal.push(message.show_at_us, () => this.#show(message, cameMs));
        break;
      }
      case "reacted":
        this.shouts = [...this.shouts.slice(-8), { key: ++this.#keys, seat: message.seat, emoji: message.emoji }];
        break;
      case "store_stalled":
        this.holdOn = message.on;
        break;
      case "suspect_flagged":
        this.marked.set(message.seat, message.one_in);
        break;
      case "refused":
        if (message.of === "turn") this.#turning = 0;
        if (message.of === "slap") this.#hand = null;
        this.#showHands();
        if (message.of === "set_rules") this.#rules.forget();
        if (message.of === "set_table") this.#counting.forget();
        // A hand, or a turn, that comes when all is over: the result on the screen has told them.
        if (message.of === "slap" && message.reason === "too_late" && this.#missed()) break;
        if (message.reason !== "not_playing") this.note = { key: ++this.#keys, refused: message };
        break;
    }
  }

  #show(update: Update, cameMs: number): (paintedMs: number) => void {
    const before = this.table;
    const found = !this.#sees;
    this.#sees = true;
    this.table = after(before, update);
    if (update.table) {
      this.#rules.heard(update.table.rules);
      this.#counting.heard(update.table);
    }
    // Whatever was told of a hand does not lie over the result.
    if (before.table?.stage === "playing" && this.table.table?.stage !== "playing") this.note = null;
    if (isAfresh(update) || this.table.table?.game !== before.table?.game) {
      this.#slapped = [];
      this.#turning = this.called = 0;
      this.#hand = null;
    }
    if (this.view && this.view.turned >= this.#turning) this.#turning = 0;
    // The dealer has spoken, or the card is gone: a hand on it has had its answer.
    const paid = update.events.some((event) => event.event === "wrong_slap" && event.seat === this.place);
    if (update.view && (update.verdict || paid || topCard(this.table)?.nth !== this.#hand?.nth)) this.#hand = null;
    this.#showHands();
    this.#look(before, update);
    const dealt = !before.view && update.view?.turned === 0 ? dealing(update.view) : [];
    // The pile goes once everybody has seen whose it is.
    const won = flights(update.events).map((flight) =>
      this.moment ? { ...flight, afterMs: MOMENT_MS * 0.7 } : flight,
    );
    const flown = [...dealt, ...won].map((flight) => ({ ...flight, key: ++this.#keys }));
    if (flown.length) this.flown = [...this.flown, ...flown];
    this.shown(this, update);
    const game = this.table.table?.game ?? 0;
    return (paintedMs) => this.#painted(update, game, found, cameMs, paintedMs);
  }

  /** Keeps a card that has been decided in sight, until its time is over or another lies there. */
  #look(before: Table, { verdict, view }: Update): void {
    const top = topCard(before);
    if (verdict?.winner !== null && verdict?.winner !== undefined && top?.nth === verdict.nth) {
      const moment = { key: ++this.#keys, face: top.face, verdict };
      this.moment = moment;
      this.world.later(() => {
        if (this.moment === moment) this.moment = null;
      }, MOMENT_MS);
    } else if (view?.landed.length) this.moment = null;
  }

  /** `found` is said of the first that is shown on a socket, which may have a card on top that was turned before. */
  #painted(update: Update, game: number, found: boolean, cameMs: number, atMs: number): void {
    if (!update.view) return;
    const top = update.view.landed.at(-1)?.nth ?? 0;
    const afresh = isAfresh(update);
    const fresh = this.#paintings.add({ game, nth: top, atMs }, afresh);
    if (!update.say_shown) return;
    const shown = update.events.flatMap((event) => (event.event === "card_turned" ? [event.nth] : []));
    if (top && (afresh || (found && fresh)) && !shown.includes(top)) shown.push(top);
    const { show_at_us } = update;
    const lateUs = show_at_us
      ? (this.#connection.clock.roomUs(atMs) ?? show_at_us) - show_at_us
      : Math.round((atMs - cameMs) * 1000);
    for (const nth of shown) this.say({ t: "shown", game, nth, late_us: lateUs });
  }
}

/** Whether the top card is shown anew, after a restart, say: hands that were on it are void (P9). */
function isAfresh(update: Update): boolean {
  return update.view !== null && update.show_at_us !== 0 && update.events.length === 0;
}

function reactionUs(atMs: number, paintedMs: number): number {
  return Math.round((atMs - paintedMs) * 1000);
}
