// The table as this phone shows it, and how an update changes it. Pure.

import {
  MAX_SEATS,
  OFFER_EVERY_CARDS,
  OFFER_FROM_CARDS,
  RANKS_TOO,
  STATEMENTS,
  type AnyEvent,
  type GameView,
  type LandedCard,
  type Question,
  type Rules,
  type Seat,
  type SeatId,
  type TableSeat,
  type TableView,
  type Update,
  type Verdict,
} from "./wire";

/** What the dealer last had to say, kept as what happened: the words are the page's. */
export type Said = { events: readonly AnyEvent[]; verdict: Verdict | null };

export type Table = {
  table: TableView | null;
  view: GameView | null;
  /** Who sits at which place of the game in `view`; outlives the game, so that its end can be told. */
  players: ReadonlyMap<Seat, TableSeat>;
  said: Said | null;
  /** The last contested slap of this game, the evidence for the photo finish. */
  verdict: Verdict | null;
  question: Question | null;
  /** In War the last two cards to be turned: they are won in the same moment, and must be seen all the same (R21). */
  battle: readonly LandedCard[];
};

export const NO_TABLE: Table = {
  table: null,
  view: null,
  players: new Map(),
  said: null,
  verdict: null,
  question: null,
  battle: [],
};

export function after(before: Table, update: Update): Table {
  const now = { ...before };
  // The whole table is sent to somebody who comes, and they have missed what was said before.
  if (update.table && update.view) Object.assign(now, { said: null, battle: [] });
  if (update.table) {
    const table = toldApart(update.table);
    if (update.table.game !== before.table?.game) {
      Object.assign(now, { view: null, said: null, verdict: null, question: null, battle: [] });
    }
    now.table = table;
    const dealtIn = table.seats.flatMap((seat) => (seat.place === null ? [] : [[seat.place, seat] as const]));
    if (dealtIn.length) now.players = new Map(dealtIn);
  }
  if (update.view) {
    now.view = update.view;
    now.question = update.question;
  }
  if (update.verdict) now.verdict = update.verdict;
  // Who has carried on shows in whom the table still waits for; the dealer says nothing of it (R19).
  if (update.events.some((event) => event.event !== "carried_on")) {
    now.said = { events: update.events, verdict: update.verdict };
  }
  if (update.view?.game === "war") {
    const turned = update.events.flatMap((event) => (event.event === "card_turned" ? [event] : []));
    if (turned.length) now.battle = turned.map(({ nth, face, seat }) => ({ nth, face, seat }));
  }
  return now;
}

/** The table with a number behind a name that somebody before has, so that the dealer can tell them apart. */
function toldApart(table: TableView): TableView {
  const names = new Map<SeatId, string>();
  for (const { id, name } of table.seats) {
    const taken = [...names.values()];
    let own = name;
    for (let nth = 2; taken.includes(own); nth++) own = `${name} ${String(nth)}`;
    names.set(id, own);
  }
  return {
    ...table,
    seats: table.seats.map((seat) => ({ ...seat, name: names.get(seat.id) ?? seat.name })),
    standings: table.standings.map((standing) => ({
      ...standing,
      name: (standing.seat && names.get(standing.seat)) ?? standing.name,
    })),
  };
}

/** Whether nobody else can sit down under these rules (R1, R20, R21). */
export function isFull({ seats, rules }: TableView): boolean {
  return seats.length >= mostSeats(rules);
}

/** The ranks of which every card may be slapped, the Jack's first (R11). */
export function slapRanks(rules: Rules): string[] {
  const switches = Object.keys(RANKS_TOO) as (keyof typeof RANKS_TOO)[];
  return ["J", ...switches.filter((name) => rules[name]).map((name) => RANKS_TOO[name])];
}

/** For how many these rules are. */
export function mostSeats(rules: Rules): number {
  return rules.game === "slapjack" ? MAX_SEATS : 2;
}

/**
 * The seats of people who are away and have something to come back to, for somebody who may be one of them: they are
 * in no game and have won nothing here.
 */
export function claimable(table: TableView, me: SeatId | null): TableSeat[] {
  const played = (seat: TableSeat): boolean =>
    seat.place !== null || table.standings.some((standing) => standing.seat === seat.id);
  if (table.seats.some((seat) => seat.id === me && (seat.host || played(seat)))) return [];
  return table.seats.filter((seat) => seat.kind === "person" && seat.away && seat.id !== me && played(seat));
}

/** The card that a hand would come down on. */
export function topCard(table: Table): LandedCard | null {
  return table.view?.landed.at(-1) ?? null;
}

/** One's own seat at the table, or null when watching. */
export function mySeat(table: Table, me: SeatId | null): TableSeat | null {
  return table.table?.seats.find((seat) => seat.id === me) ?? null;
}

/** One's own place in the game in view, or null when not dealt in. */
export function myPlace(table: Table, me: SeatId | null): Seat | null {
  for (const [place, seat] of table.players) if (seat.id === me) return place;
  return null;
}

/** The seats of the game in the order in which they sit to the left of `place`, that place itself left out. */
export function clockwiseFrom(table: Table, place: Seat | null): Seat[] {
  const seats = table.view?.seats.length ?? 0;
  const start = place ?? -1;
  const others = place === null ? seats : seats - 1;
  return Array.from({ length: others }, (_, step) => (start + 1 + step) % seats);
}

/** Cards on their way from one place of the table to another: the first `afterMs` from now, the others `apartMs` apart. */
export type Flight = { from: Seat | "pile"; to: Seat | "pile"; cards: number; afterMs: number; apartMs: number };

/** So many cards of a flight are seen. */
export const MOST_SEEN = 6;

const BATTLE_SEEN_MS = 900;
const APART_MS = 45;
const DEAL_MS = 1_000;

/** The deal: from the middle, one card at a time and clockwise (R2), in a second at most. */
export function dealing(view: GameView): Flight[] {
  const seats = view.seats.length;
  const betweenMs = Math.min(APART_MS, DEAL_MS / (seats * MOST_SEEN));
  return view.seats.map(({ cards }, seat) => ({
    from: "pile",
    to: seat,
    cards,
    afterMs: seat * betweenMs,
    apartMs: seats * betweenMs,
  }));
}

/** How the cards travel in what has happened. A turned card does not: it must be read at its very moment. */
export function flights(events: readonly AnyEvent[]): Flight[] {
  return events.flatMap((event): Flight[] => {
    switch (event.event) {
      case "pile_won":
      case "pile_taken_back":
        return [{ from: "pile", to: event.seat, cards: event.cards, afterMs: 0, apartMs: APART_MS }];
      case "battle_won":
        return [{ from: "pile", to: event.seat, cards: event.cards, afterMs: BATTLE_SEEN_MS, apartMs: APART_MS }];
      case "wrong_slap":
        return event.paid
          ? [{ from: event.seat, to: event.to ?? "pile", cards: event.paid, afterMs: 0, apartMs: APART_MS }]
          : [];
      case "pile_shared":
        return event.shares.flatMap((cards, seat) =>
          cards ? [{ from: "pile", to: seat, cards, afterMs: 0, apartMs: APART_MS }] : [],
        );
      default:
        return [];
    }
  });
}

/** The number of turned cards at which the host was last offered to end and count, 0 where not (R12). */
export function offeredAt(rules: Rules, turned: number): number {
  if (rules.card_limit || rules.time_limit_min || turned < OFFER_FROM_CARDS) return 0;
  return turned - ((turned - OFFER_FROM_CARDS) % OFFER_EVERY_CARDS);
}

export type StatementName = keyof typeof STATEMENTS;

/** What players are told of these rules, in order: the statements that hold under them. */
export function toldUnder(rules: Rules): StatementName[] {
  const holds = (when: Record<string, readonly (string | boolean)[]>) =>
    Object.entries(when).every(([field, values]) => values.includes(rules[field as keyof Rules] as string | boolean));
  return (Object.keys(STATEMENTS) as StatementName[]).filter((name) => holds(STATEMENTS[name].when));
}
