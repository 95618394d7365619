// The dealer's line: what has just happened, in words. Pure; the words of a language are handed in.

import type { dealer, ranks, suits } from "../messages";
import { topCard, type Said, type Table } from "./table";
import type { AnyEvent, Card, Seat, Verdict } from "./wire";

type Values<Store extends { get(): unknown }> = ReturnType<Store["get"]>;

export type Words = {
  dealer: Values<typeof dealer>;
  ranks: Values<typeof ranks>;
  suits: Values<typeof suits>;
};

/** Milliseconds as people read them: whole ones, but never "0 ms" for a margin that there was. */
export function ms(us: number): string {
  const whole = Math.round(us / 1000);
  return whole === 0 && us > 0 ? (us / 1000).toFixed(1) : String(whole);
}

export function cardName(words: Words, card: Card): string {
  const rank = card[0] as keyof Words["ranks"];
  const suit = card[1] as keyof Words["suits"];
  return words.dealer.card({ rank: words.ranks[rank], suit: words.suits[suit] });
}

/** What the dealer says of what happened last; an opening while nothing has. `me` is one's own place. */
export function dealerLine(words: Words, table: Table, me: Seat | null): string {
  if (!table.said) {
    if (!table.view) return "";
    const top = topCard(table);
    if (top) return sentence(words, table, { events: [], verdict: null }, { event: "card_turned", ...top }, me);
    if (table.view.turned) return words.dealer.goesOn;
    if (table.view.game === "war") return words.dealer.beginWar;
    return table.table?.rules.queens ? words.dealer.beginQueens : words.dealer.begin;
  }
  const said = table.said;
  // There is no sentence for an event that only a newer server knows (P13).
  const lines = said.events.map((event) => sentence(words, table, said, event, me)).filter(Boolean);
  if (said.verdict && said.verdict.winner === null) lines.unshift(words.dealer.turnFirst);
  return lines.join(" ");
}

function sentence(words: Words, table: Table, said: Said, event: AnyEvent, me: Seat | null): string {
  const say = words.dealer;
  const name = (seat: Seat): string => table.players.get(seat)?.name ?? "";
  switch (event.event) {
    case "card_turned": {
      const card = cardName(words, event.face);
      return event.seat === me ? say.turnedYou({ card }) : say.turned({ name: name(event.seat), card });
    }
    case "pile_won": {
      const margin = marginUs(said.verdict);
      if (margin === 0) {
        return event.seat === me ? say.lotYou(event.cards) : say.lot({ name: name(event.seat) })(event.cards);
      }
      if (margin !== null && margin < 0) {
        return event.seat === me ? say.judgedYou(event.cards) : say.judged({ name: name(event.seat) })(event.cards);
      }
      if (margin === null) {
        return event.seat === me ? say.wonAloneYou(event.cards) : say.wonAlone({ name: name(event.seat) })(event.cards);
      }
      return event.seat === me
        ? say.wonYou({ ms: ms(margin) })(event.cards)
        : say.won({ name: name(event.seat), ms: ms(margin) })(event.cards);
    }
    case "wrong_slap": {
      const landed = table.view?.landed.find((card) => card.nth === event.nth);
      const card = landed ? cardName(words, landed.face) : say.aCard;
      const own = event.seat === me;
      if (!event.paid) return own ? say.youWrongFree({ card }) : say.wrongFree({ name: name(event.seat), card });
      if (event.to === null) return own ? say.youWrongPile({ card }) : say.wrongPile({ name: name(event.seat), card });
      if (own) return say.youWrongTo({ card, to: name(event.to) });
      if (event.to === me) return say.wrongToYou({ name: name(event.seat), card });
      return say.wrongTo({ name: name(event.seat), card, to: name(event.to) });
    }
    case "pile_shared":
      return event.seat === me ? say.sharedYou : say.shared({ name: name(event.seat) });
    case "pile_taken_back":
      return event.seat === me ? say.takenBackYou : say.takenBack({ name: name(event.seat) });
    case "seat_waiting":
      return event.seat === me ? say.waitingYou : say.waiting({ name: name(event.seat) });
    case "seat_back":
      return event.seat === me ? say.backYou : say.back({ name: name(event.seat) });
    case "seat_out":
      return event.seat === me ? say.outYou : say.out({ name: name(event.seat) });
    case "elimination_began":
      return event.empty === me ? say.eliminationYou : say.elimination({ name: name(event.empty) });
    case "elimination_ended":
      return say.eliminationOver;
    case "seat_ready":
      return event.seat === me ? say.readyYou : say.ready({ name: name(event.seat) });
    case "war_declared":
      return event.depth === 1 ? say.war : say.wars({ depth: event.depth });
    case "battle_won":
      return event.seat === me ? say.battleYou(event.cards) : say.battle({ name: name(event.seat) })(event.cards);
    case "carried_on":
      return "";
    case "game_over":
      if (event.winners.length !== 1) return say.shares({ names: event.winners.map(name).join(", ") });
      return event.winners[0] === me ? say.winsYou : say.wins({ name: name(event.winners[0] as Seat) });
  }
}

/**
 * By how much (µs) the winner's hand was before the next one, null when there was none. A turn is no hand. Below zero
 * the table has judged otherwise than the dealer would have (R18).
 */
export function marginUs(verdict: Verdict | null): number | null {
  const [first, second] = verdict?.hands.filter((hand) => !hand.cover) ?? [];
  return first && second && first.seat === verdict?.winner ? second.accepted_us - first.accepted_us : null;
}
