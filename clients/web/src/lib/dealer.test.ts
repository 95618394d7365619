import { describe, expect, it } from "vitest";
import { dealer, ranks, suits } from "../messages";
import { dealerLine } from "./dealer";
import { gameView, hand, seat, tableView, update } from "./fakes";
import { after, NO_TABLE } from "./table";
import type { AnyEvent, Verdict } from "./wire";

const words = { dealer: dealer.get(), ranks: ranks.get(), suits: suits.get() };

function line(events: AnyEvent[], me: number | null, verdict: Verdict | null = null, names = ["Mia", "Joe", "Ada"]) {
  const seats = names.map((name, place) => seat(name, place, { name }));
  const landed = [{ nth: 1, face: "7H", seat: 1 }];
  let table = after(NO_TABLE, update(1, { table: tableView({ seats }) }));
  table = after(table, update(2, { view: gameView({ landed }), events, verdict }));
  return dealerLine(words, table, me);
}

describe("the dealer", () => {
  it("opens the game", () => {
    const table = after(after(NO_TABLE, update(1, { table: tableView() })), update(2, { view: gameView() }));
    expect(dealerLine(words, table, 0)).toBe("A new game. Watch for the Jacks!");
  });

  it("names the card that was turned, and says you to you", () => {
    const events: AnyEvent[] = [{ event: "card_turned", seat: 1, nth: 1, face: "JS" }];
    expect(line(events, 0)).toBe("Joe: the Jack of Spades.");
    expect(line(events, 1)).toBe("You: the Jack of Spades.");
  });

  it("says nothing of an event that it does not know", () => {
    const waved = { event: "waved", seat: 1 } as unknown as AnyEvent;
    expect(line([waved, { event: "card_turned", seat: 1, nth: 1, face: "JS" }, waved], 0)).toBe(
      "Joe: the Jack of Spades.",
    );
  });

  it("names the card on top to somebody who comes back, whatever was said before", () => {
    let table = after(NO_TABLE, update(1, { table: tableView() }));
    const events: AnyEvent[] = [{ event: "card_turned", seat: 1, nth: 1, face: "JS" }];
    table = after(
      table,
      update(2, { view: gameView({ turned: 1, landed: [{ nth: 1, face: "JS", seat: 1 }] }), events }),
    );
    const landed = [{ nth: 5, face: "9D", seat: 0 }];
    const back = after(table, update(9, { table: tableView(), view: gameView({ turned: 5, landed }) }));
    expect(dealerLine(words, back, 1)).toBe("A: the Nine of Diamonds.");
    const won = after(table, update(9, { table: tableView(), view: gameView({ turned: 5 }) }));
    expect(dealerLine(words, won, 1)).toBe("The game is on.");
  });

  it("says by how much a contested slap was won", () => {
    const events: AnyEvent[] = [{ event: "pile_won", seat: 0, nth: 1, cards: 12 }];
    const verdict = { game: 1, nth: 1, winner: 0, hands: [hand(0, 400), hand(1, 434)], margin_us: 34_000, wait_us: 0 };
    expect(line(events, 0, verdict)).toBe("You were first by 34 ms and take 12 cards.");
    expect(line(events, 1, verdict)).toBe("Mia was first by 34 ms and takes 12 cards.");
    const close = { ...verdict, hands: [hand(0, 400), hand(1, 400.4)] };
    expect(line(events, 1, close)).toBe("Mia was first by 0.4 ms and takes 12 cards.");
  });

  it("says when the lot had to decide", () => {
    const events: AnyEvent[] = [{ event: "pile_won", seat: 0, nth: 1, cards: 3 }];
    const hands = [hand(0, 200), hand(1, 200)];
    expect(line(events, 1, { game: 1, nth: 1, winner: 0, hands, margin_us: 0, wait_us: 0 })).toBe(
      "A dead heat! The lot falls on Mia, who takes 3 cards.",
    );
  });

  it("R18: says that it was the table's word, where its hand was not the first", () => {
    const events: AnyEvent[] = [{ event: "pile_won", seat: 0, nth: 1, cards: 3 }];
    const verdict = { game: 1, nth: 1, winner: 0, hands: [hand(0, 403), hand(1, 400)], margin_us: -3_000, wait_us: 0 };
    expect(line(events, 0, verdict)).toBe("The table’s word: you were first and take 3 cards.");
    expect(line(events, 1, verdict)).toBe("The table’s word: Mia was first and takes 3 cards.");
  });

  it("takes a turn for no hand: only another hand can be beaten by a margin", () => {
    const events: AnyEvent[] = [{ event: "pile_won", seat: 0, nth: 1, cards: 2 }];
    const hands = [hand(0, 174), hand(0, 800, { cover: true })];
    expect(line(events, 1, { game: 1, nth: 1, winner: 0, hands, margin_us: 626_000, wait_us: 0 })).toBe(
      "Mia slaps and takes 2 cards.",
    );
  });

  it("claims no margin over nobody", () => {
    const events: AnyEvent[] = [{ event: "pile_won", seat: 0, nth: 1, cards: 1 }];
    const verdict = { game: 1, nth: 1, winner: 0, hands: [hand(0, 400)], margin_us: null, wait_us: 0 };
    expect(line(events, 1, verdict)).toBe("Mia slaps and takes 1 card.");
  });

  it("R7: tells who pays whom", () => {
    const wrong = (paid: number, to: number | null): AnyEvent[] => [{ event: "wrong_slap", seat: 0, nth: 1, paid, to }];
    expect(line(wrong(1, 1), 0)).toBe("You slapped the Seven of Hearts: one card to Joe.");
    expect(line(wrong(1, 1), 1)).toBe("Mia slapped the Seven of Hearts: one card to you.");
    expect(line(wrong(1, 1), 2)).toBe("Mia slapped the Seven of Hearts: one card to Joe.");
    expect(line(wrong(1, null), 2)).toBe("Mia slapped the Seven of Hearts: one card under the pile.");
    expect(line(wrong(0, null), 2)).toBe("Mia slapped the Seven of Hearts.");
  });

  it("takes a name for a name, whatever it is", () => {
    const events: AnyEvent[] = [{ event: "card_turned", seat: 1, nth: 1, face: "AS" }];
    expect(line(events, 0, null, ["a", "{card}$&", "c"])).toBe("{card}$&: the Ace of Spades.");
  });
});
