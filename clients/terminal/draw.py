"""What stands where on the screen: pure pictures of what is seen, a part of the screen each.

Nothing is told by colour alone: suits have their sign, states their word, and a Jack is the one card that is reversed.
Names are inert before they get here (`words.inert`).
"""

from collections.abc import Sequence
from itertools import zip_longest

from rich.text import Text

from clients.terminal.seen import Seen
from clients.terminal.words import card_name, cards, dealer_line, inert, ms, slap_cards
from clients.words import counted
from engine.cards import Card
from engine.game import LandedCard, Status, Wait
from engine.rules import WhichHand
from wire.messages import Kind, RankedSlap, Stage, TableSeat

WIDTH, HEIGHT = 80, 24
"""The smallest terminal that shows a whole table."""

SIGNS = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}
COLOURS = {"S": "bold", "H": "bold #d55e00", "D": "bold #e69f00", "C": "bold #56b4e9"}
"""Told apart by the colour-blind as well (Okabe and Ito, 2008), and never needed."""

PLAYER_CELLS = 49
NAME_CELLS = 20
STACK_CELLS = 13
LANE_CELLS = 24
HANDS = 4
CARD_LINES = 7


def header(seen: Seen, line: str) -> Text:
    """The table, and at the right how the line is."""
    parts = ["Slapjack"]
    if (table := seen.table) is not None:
        parts += [f"table {inert(table.code, 8)}"]
        parts += [f"game {table.game}"] if table.game else []
        parts += [f"{table.watching} watching"] if table.watching else []
        parts += ["locked"] if table.locked else []
        parts += [f"first to {table.first_to}"] if table.first_to else []
    left = Text(f" {'  ·  '.join(parts)}", no_wrap=True)
    left.truncate(WIDTH - len(line) - 2, overflow="ellipsis", pad=True)
    return left.append(f" {line} ")


def players(seen: Seen) -> Text:
    """Everybody seated, a line each: in a game with their stacks, else with their wins."""
    return Text("\n", no_wrap=True).join([_player(seen, seat) for seat in seen.seats])


def _player(seen: Seen, seat: TableSeat) -> Text:
    mine = seat.id == seen.me
    name = f"{inert(seat.name, NAME_CELLS - 6)} (you)" if mine else inert(seat.name, NAME_CELLS)
    row = Text.assemble(" ▶ " if _turns(seen, seat) else "   ", (_padded(name, NAME_CELLS), "bold" if mine else ""))
    for word, style in _state(seen, seat):
        if row.cell_len + len(word) < PLAYER_CELLS:
            row.append(f" {word}", style)
    return row


def _turns(seen: Seen, seat: TableSeat) -> bool:
    return seen.playing and seen.view is not None and seat.place is not None and seat.place in seen.view.turners


def _state(seen: Seen, seat: TableSeat) -> list[tuple[str, str]]:
    """What there is to say of a seat, the most important first: a line has no room for all of it."""
    words: list[tuple[str, str]] = []
    stack = seen.view.seats[seat.place] if seen.playing and seen.view is not None and seat.place is not None else None
    if stack is None:
        words.append((counted(seat.wins, "win"), ""))
    elif stack.status is Status.OUT:
        words.append(("out", "dim"))
    elif stack.status is Status.WAITING:
        words.append(("last chance", "reverse"))
    else:
        full = min(STACK_CELLS, -(-stack.cards * STACK_CELLS // 52))
        words.append((f"{stack.cards:2} {'▮' * full}{' ' * (STACK_CELLS - full)}", ""))
    if stack is not None and seen.view is not None:
        words += [("thinks", "italic")] if seat.place in seen.view.answers else []
        words += [("ready", "italic")] if seat.place in seen.view.ready else []
    words += [(f"+{seat.handicap_ms} ms", "dim")] if seat.handicap_ms else []
    words += [("host", "dim")] if seat.host and stack is None else []
    words += [("claimed", "reverse")] if seat.claimed else [("away", "italic")] if seat.away else []
    if stack is None and seat.kind is Kind.COMPUTER:
        words.append((f"· computer, {seat.reaction_ms} ms", "dim"))
    if stack is None and seat.tally is not None and seat.tally.slaps:
        words.append((f"· {seat.tally.average_ms} ms", "dim"))
        words.append((f"· best {seat.tally.best_ms}", "dim"))
    if stack is None and seat.tally is not None and seat.tally.wrong:
        words.append((f"· {seat.tally.wrong} wrong", "dim"))
    return words


def pile(seen: Seen, hand_down: bool) -> Text:
    """The cards in the middle; `hand_down` puts one's own hand on them until the dealer speaks."""
    view = seen.view
    if view is None or (not seen.playing and not view.landed):
        return Text()
    shown: Sequence[LandedCard] = view.landed[-2:] if view.game == "war" else view.landed[-1:]
    arts = [card_art(card.face, hand_down) for card in shown] or [card_art(None, hand_down)]
    picture = [Text("  ").join(lines) for lines in zip(*arts, strict=True)]
    below = f"{cards(view.pile)} in the pile" if view.pile else "No cards on the table"
    if view.under:
        below = f"{cards(view.pile)}, {view.under} face down"
    words = [Text(card_name(shown[-1].face)) if shown else Text()]
    before = view.landed[-4:-1] if view.game != "war" else ()
    if before:
        words.append(Text("upon ").append(Text(" ").join([_small(card.face) for card in reversed(before)])))
    return Text("\n", no_wrap=True).join([*picture, *words, Text(below, "dim")])


def card_art(face: Card | None, hand_down: bool = False) -> list[Text]:
    """A card of seven lines; a Jack is reversed. Without a face it is the place where cards go."""
    if face is None:
        inner = ["", "SLAP!" if hand_down else "", "", "", ""]
        lines = ["┌╌╌╌╌╌╌╌╌╌┐", *(f"╎{_centred(line, 9)}╎" for line in inner), "└╌╌╌╌╌╌╌╌╌┘"]
        return [Text(line, "dim") for line in lines]
    rank, sign = "10" if face[0] == "T" else face[0], SIGNS[face[1]]
    middle = {"J": "JACK", "Q": "QUEEN", "K": "KING", "A": "ACE"}.get(face[0], f"{rank} {sign}")
    inner = [
        f" {rank:<2}{sign}     ",
        _centred("SLAP!" if hand_down else "", 9),
        _centred(middle, 9),
        " " * 9,
        f"     {sign}{rank:>2} ",
    ]
    style = "bold reverse" if face[0] == "J" else COLOURS[face[1]]
    return [Text(line, style) for line in ["┌─────────┐", *(f"│{line}│" for line in inner), "└─────────┘"]]


def _small(face: Card) -> Text:
    return Text(f"{'10' if face[0] == 'T' else face[0]}{SIGNS[face[1]]}", COLOURS[face[1]])


def invitation(seen: Seen) -> Text:
    """The code of this table, and the win scores of those who are not here."""
    if (table := seen.table) is None:
        return Text()
    lines = [Text("The code of this table:"), Text(f" {' '.join(inert(table.code, 8))} ", "bold reverse")]
    away = [each for each in table.standings if each.seat is None]
    if away:
        lines += [Text(), Text("With wins, not here now:")]
        lines += [Text(f"{inert(each.name, NAME_CELLS)}: {each.wins}", "dim") for each in away[:5]]
    return Text("\n").join(lines)


def dealer(seen: Seen, link: str) -> Text:
    """What has just happened, in words; before the first game, how others come to this table."""
    if (table := seen.table) is not None and table.champions:
        names = [inert(seat.name, NAME_CELLS) for seat in table.seats if seat.id in table.champions]
        return Text(f"{dealer_line(seen)} {', '.join(names)}: champion!", "bold")
    if (line := dealer_line(seen)) or table is None:
        return Text(line, "bold")
    return Text("Others come with the code, or by this link:\n").append(inert(link, WIDTH - 2), "underline")


def finish(seen: Seen) -> Text:
    """The photo finish: a lane for each hand, from the card's appearing to the hand."""
    verdict = seen.finish
    if verdict is None or not verdict.hands:
        return Text()
    longest_us = max(1, *(hand.accepted_us for hand in verdict.hands))
    first_us = verdict.hands[0].accepted_us
    lanes = [_lane(seen, hand, longest_us, first_us) for hand in verdict.hands[:HANDS]]
    more = len(verdict.hands) - HANDS
    title = "Photo finish, from the card's appearing" + (f" ({more} more came later)" if more > 0 else "")
    return Text("\n", no_wrap=True).join([Text(title, "dim"), *lanes])


def _lane(seen: Seen, hand: RankedSlap, longest_us: int, first_us: int) -> Text:
    player = seen.players.get(hand.seat)
    name = "You" if hand.seat == seen.place else inert(player.name, 12) if player is not None else "?"
    length = max(1, round(hand.accepted_us * LANE_CELLS / longest_us))
    end = "|" if hand.cover else "●"
    behind_us = hand.accepted_us - first_us
    remark = "turned" if hand.cover else f"+{ms(behind_us)}" if behind_us else "first"
    if seen.table is not None and seen.table.rules.call and not hand.called and not hand.cover:
        remark = "no call"
    if hand.added_us and not hand.cover:  # nothing is held against a turn, which is no hand
        remark += f", {hand.added_us / 1000:.0f} added"
    if hand.handicap_us:
        remark += f", {hand.handicap_us / 1000:.0f} handicap"
    row = Text.assemble(
        f" {_padded(name, 12)} {ms(hand.accepted_us):>7} ",
        (f"{'─' * (length - 1)}{end}{' ' * (LANE_CELLS - length)}", "bold" if not behind_us else ""),
        f" {remark}",
    )
    row.truncate(WIDTH - 2, overflow="ellipsis")
    return row


def call(seen: Seen, left_s: int) -> Text:
    """What the table wants of one now, loud; `left_s` are the seconds until the next deal or the end of a question."""
    told, loud = _call(seen, left_s)
    return Text(f" {told} " if told else "", "reverse bold" if loud else "")


def _call(seen: Seen, left_s: int) -> tuple[str, bool]:
    table, view = seen.table, seen.view
    if table is None:
        return "Finding your chair …", False
    if seen.playing and view is None:
        return "The cards are dealt …", False
    if table.paused:
        return "Paused by the host.", False
    if table.asleep:
        return "Everybody is away. The game waits.", False
    if not seen.playing:
        return _between(seen, left_s)
    if seen.question is not None and (seen.place is None or _out(seen)):
        names = [inert(seen.players[seat].name, 14) if seat in seen.players else "?" for seat in seen.question.seats]
        return f"Too close to call. Who was first?  1 {names[0]}   2 {names[1]}   ({left_s} s)", True
    if seen.question is not None:
        return "Too close to call. The table judges …", False
    if seen.may_answer:
        return "Slap it, or let it pass: Enter carries on", True
    if seen.my_turn:
        return "YOUR TURN: Enter turns a card", True
    if seen.place is None:
        return "You are watching. You are dealt in at the next game." if seen.seat else "You are watching.", False
    if _out(seen):
        return "You are out. Watch the others.", False
    assert view is not None, "asked above, while playing"
    if view.wait is Wait.LAST_HAND:
        return "The last card lies. Any hand?", True
    if view.wait is Wait.LAST_CARD:
        return "Every card is turned.", False
    if view.seats[seen.place].status is Status.WAITING:
        return f"Out of cards: slap {slap_cards(seen)} to come back", True
    offered = seen.table.rules.offered_at(view.turned) if seen.table is not None else 0
    if offered and seen.seat is not None and seen.seat.host:
        return f"{offered} cards have been turned: M ends the game and counts", False
    return "", False


def _out(seen: Seen) -> bool:
    return seen.view is not None and seen.place is not None and seen.view.seats[seen.place].status is Status.OUT


def _between(seen: Seen, left_s: int) -> tuple[str, bool]:
    assert seen.table is not None
    host = next((seat for seat in seen.seats if seat.host), None)
    mine = host is not None and host.id == seen.me
    if seen.table.stage is Stage.BREAK and not seen.table.held:
        return f"Next deal in {left_s} s" + ("   S deals now" if mine else ""), False
    if len(seen.seats) < 2:
        return "One more seat is needed: invite somebody, or M adds a computer player", False
    if mine:
        return "S starts the game", True
    return f"{inert(host.name, NAME_CELLS)} starts the game." if host is not None else "Nobody is host yet.", False


def keys(seen: Seen, *, keeps: bool = True) -> Text:
    """The keys that do something now; `keeps` when there is a way back to the seat."""
    known: list[tuple[str, str]] = []
    if seen.playing and seen.place is not None and not _out(seen):
        rules = seen.table.rules if seen.table is not None else None
        if rules is not None and rules.game != "war" and not rules.say_jack:
            known.append(
                ("F J", "slap left, right") if rules.hand in (WhichHand.OTHER, WhichHand.SAME) else ("Space", "slap")
            )
        known.append(("Enter", "turn"))
        if rules is not None and (rules.call or rules.say_jack):
            known.append(("C", "call"))
    known += [("M", "menu"), ("B", "bell")]
    known += [] if seen.playing else [("L", "leaderboard")]
    known += [("Q", "quit" if seen.seat is None else "quit, seat kept" if keeps else "leave")]
    row = Text(" ", no_wrap=True)
    for key, what in known:
        row.append(f" {key} ", "reverse").append(f" {what}   ")
    return row


def too_small(width: int, height: int) -> str:
    """What is said on a terminal that cannot show a table."""
    return f"This terminal has {width}×{height} characters, and a table needs {WIDTH}×{HEIGHT}: make it larger."


def beside(left: Text, right: Text, cells: int) -> Text:
    """Two pictures side by side, the left one `cells` wide."""
    rows = zip_longest(left.split("\n"), right.split("\n"), fillvalue=Text())
    lines = []
    for one, other in rows:
        one = one.copy()
        one.truncate(cells, pad=True)
        lines.append(one.append_text(other))
    return Text("\n", no_wrap=True).join(lines)


def _padded(text: str, cells: int) -> str:
    padded = Text(text)
    padded.truncate(cells, pad=True)
    return padded.plain


def _centred(text: str, cells: int) -> str:
    spare = cells - Text(text).cell_len
    return " " * (spare // 2) + text + " " * (spare - spare // 2)
