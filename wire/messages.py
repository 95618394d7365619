"""The messages between a phone and the server: one map a frame, of which `t` names the kind.

Instants are whole microseconds (`_us`) on the
room's clock unless a field says that it is the phone's own; numbers in brackets are rules, P-numbers are wire rules
(docs/protocol.md). The TypeScript twins are generated from this page by `python -m tools.protocol_ts`.
"""

from enum import IntEnum, StrEnum
from typing import Annotated, Literal, NewType

import msgspec

from engine.game import AnyEvent, GameView, Seat, Side
from engine.rules import Rules
from engine.value import Value

PROTOCOL = 3
JSON_SUBPROTOCOL = "slapjack.json"
MAX_FRAME_BYTES = 4096
MAX_SEATS = 10

SeatId = NewType("SeatId", str)
"""A seat for as long as somebody sits there, whatever its place in the circle."""

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Face = Annotated[str, msgspec.Meta(min_length=1, max_length=32)]
Key = Annotated[str, msgspec.Meta(max_length=64)]
Instant = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Reaction = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**31)]
Emoji = Literal["👏", "😂", "😮", "😭", "😡", "🎉", "👋", "🤝"]
"""A closed set: there is no free chat."""


class Message(Value, tag_field="t"):
    """One frame."""


# --- what a phone says -------------------------------------------------------------------------------------------


class Join(Message, tag="join"):
    """The first message on a socket. `key` is the secret that an earlier `Welcome` gave, or empty for a newcomer.

    With `watch` the person does not want a seat. A `program` says so: its games do not count among people's (R30).
    """

    name: Name
    face: Face
    key: Key = ""
    watch: bool = False
    protocol: Count = PROTOCOL
    program: bool = False


class Sync(Message, tag="sync"):
    """Asks for the room's clock. `sent_us` is the phone's own and comes back as it was."""

    sent_us: Instant


class Shown(Message, tag="shown"):
    """Card `nth` was painted, `late_us` after its moment: said where the update with the card asks for it."""

    game: Count
    nth: Count
    late_us: Reaction


class AllSaid(Message, tag="all_said"):
    """In answer to `AnyHand`: every hand on card `nth` that has come down here has been said."""

    game: Count
    nth: Count


class DoTurn(Message, tag="turn"):
    """Turn a card, `nth` being the number it will have. `reaction_us` runs from the painting of the card it covers."""

    game: Count
    nth: Count
    reaction_us: Reaction | None = None
    side: Side = Side.NONE


class DoSlap(Message, tag="slap"):
    """A hand on card `nth`, `reaction_us` after it was painted, both read on the phone's own clock."""

    game: Count
    nth: Count
    reaction_us: Reaction | None = None
    side: Side = Side.NONE


class DoCall(Message, tag="call"):
    """ "Slapjack!" (R13): the call, `reaction_us` after card `nth` was painted."""

    game: Count
    nth: Count
    reaction_us: Reaction | None = None


class DoCarryOn(Message, tag="carry_on"):
    """Let card `nth` pass (R19)."""

    game: Count
    nth: Count


class Point(Message, tag="point"):
    """The table's judge points at a winner (R18)."""

    question: Count
    seat: Seat


class Start(Message, tag="start"):
    """The host starts the game, or the next one now."""


class HoldDeal(Message, tag="hold_deal"):
    """The host holds the next deal, or lets it go on (R28)."""

    on: bool


class Pause(Message, tag="pause"):
    """The host pauses the game, or lets it go on (R24)."""

    on: bool


class EndGame(Message, tag="end_game"):
    """The host ends the game and has the cards counted (R12)."""


class SetRules(Message, tag="set_rules"):
    """The host changes the rules, between games."""

    rules: Rules


class AddComputer(Message, tag="add_computer"):
    """The host seats a computer player (R31)."""

    reaction_ms: Annotated[int, msgspec.Meta(ge=150, le=5_000)] = 600
    spread_ms: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 120
    slip_percent: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0


class SetComputer(Message, tag="set_computer"):
    """The host has a computer player play otherwise, between games (R31)."""

    seat: SeatId
    reaction_ms: Annotated[int, msgspec.Meta(ge=150, le=5_000)] = 600
    spread_ms: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 120
    slip_percent: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0


class SetTable(Message, tag="set_table"):
    """The host chooses how many wins make a champion (R29, 0: open-ended), and whether the leaderboard counts games.

    Refused with `would_crown` where somebody has won so often already, unless `crown` says that this is meant.
    """

    first_to: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0
    ranked: bool = True
    crown: bool = False


class Remove(Message, tag="remove"):
    """The host removes a seat (R25), and whoever sat there stays out until they are let back in.

    With `if_away` only while they are away, which does not keep them from coming again.
    """

    seat: SeatId
    if_away: bool = False


class LetBack(Message, tag="let_back"):
    """The host lets somebody come back who was removed from that seat."""

    seat: SeatId


class SetHandicap(Message, tag="set_handicap"):
    """The host gives a seat a handicap (R32)."""

    seat: SeatId
    ms: Annotated[int, msgspec.Meta(ge=0, le=500)]


class Lock(Message, tag="lock"):
    """The host locks the table to newcomers, or opens it."""

    on: bool


class Rename(Message, tag="rename"):
    """A new name and face."""

    name: Name
    face: Face


class Sit(Message, tag="sit"):
    """A spectator takes a seat; dealt in at the next game (R27)."""

    name: Name
    face: Face


class Claim(Message, tag="claim"):
    """Somebody who is in no game says that `seat`, whose phone is gone, is theirs; the host decides.

    They must have come after it was lost, one may ask for it at a time, and after a while the question goes away.
    """

    seat: SeatId


class GiveSeat(Message, tag="give_seat"):
    """The host gives a claimed seat to whoever claims it, with its cards and win score; or turns them away."""

    seat: SeatId
    yes: bool


class AskTournaments(Message, tag="ask_tournaments"):
    """What tournaments have ended here (R29)? Answered by `Tournaments`."""


class Quit(Message, tag="quit"):
    """Leave the table for good (R25)."""


class React(Message, tag="react"):
    """Show an emoji to the table."""

    emoji: Emoji


ClientMessage = (
    Join
    | Sync
    | Shown
    | AllSaid
    | DoTurn
    | DoSlap
    | DoCall
    | DoCarryOn
    | Point
    | Start
    | HoldDeal
    | Pause
    | EndGame
    | SetRules
    | AddComputer
    | SetComputer
    | SetTable
    | Remove
    | LetBack
    | SetHandicap
    | Lock
    | Rename
    | Sit
    | Claim
    | GiveSeat
    | AskTournaments
    | Quit
    | React
)

HostCommand = (
    Start
    | HoldDeal
    | Pause
    | EndGame
    | SetRules
    | AddComputer
    | SetComputer
    | SetTable
    | Remove
    | LetBack
    | SetHandicap
    | Lock
    | GiveSeat
)
"""What the host alone may say."""


# --- what the server says ----------------------------------------------------------------------------------------


class Welcome(Message, tag="welcome"):
    """You are in. `seat` is yours, or null when you watch. Keep `key`: it alone is the way back to your seat.

    The whole table and the game follow in the next frame.
    """

    code: str
    key: str
    seat: SeatId | None
    room_us: Instant
    protocol: Count = PROTOCOL


class Seated(Message, tag="seated"):
    """After `Sit`, or when the host has granted a `Claim`: the seat is yours, and your key is the way back to it."""

    seat: SeatId


class Kind(StrEnum):
    """Who sits there."""

    PERSON = "person"
    COMPUTER = "computer"


class Tally(Value):
    """How somebody did in the last game: hands that counted, their average and best reaction, wrong slaps."""

    slaps: int
    average_ms: int
    best_ms: int
    wrong: int


class TableSeat(Value):
    """One seat as everybody sees it. `place` is its `Seat` in the running game, null where it was not dealt in.

    `tally` is there between games. `claimed`: somebody says that they are the person of this seat (`Claim`).
    `program`: its owner says that it is one.
    """

    id: SeatId
    name: str
    face: str
    kind: Kind
    place: Seat | None
    host: bool
    away: bool
    wins: int
    rtt_ms: int
    handicap_ms: int = 0
    reaction_ms: int = 0
    tally: Tally | None = None
    claimed: bool = False
    program: bool = False
    spread_ms: int = 0
    slip_percent: int = 0


class Standing(Value):
    """A win score at this table, of somebody who may not be here now; `seat` is theirs where they are (R28)."""

    name: str
    face: str
    wins: int
    games: int
    seat: SeatId | None


class Removed(Value):
    """Somebody whom the host has removed from `seat`, and who stays out until let back in."""

    seat: SeatId
    name: str
    face: str


class EndedTournament(Value):
    """A tournament to `first_to` wins (0 where that was not kept), after so many games; `standings` best first."""

    first_to: int
    games: int
    standings: tuple[Standing, ...]


class Stage(StrEnum):
    """What the table is doing."""

    LOBBY = "lobby"
    PLAYING = "playing"
    BREAK = "break"


class RankedSlap(Value):
    """What one hand was measured at: the evidence (R18, docs/fairness.md). All in microseconds.

    `reaction_us` is what the phone claimed, null where it had no usable stamps and the link alone decided.
    `accepted_us` is what the dealer ranked: the claim, plus `added_us` that neither the link nor the lag credit bore
    out, plus the handicap (R32). `credit_us` is the lag credit that the claim cost, `path_us` what the claim leaves for
    the way here. `cover` marks a turn that would have covered the card.
    """

    seat: Seat
    reaction_us: int | None
    accepted_us: int
    path_us: int = 0
    added_us: int = 0
    credit_us: int = 0
    handicap_us: int = 0
    called: bool = False
    cover: bool = False


class Verdict(Value):
    """Who was first on card `nth`. `hands` are in the dealer's order; `winner` is null when a turn came first.

    `margin_us` lies between the two best hands, `wait_us` between the first hand's arrival and the verdict.
    """

    game: int
    nth: int
    winner: Seat | None
    hands: tuple[RankedSlap, ...]
    margin_us: int | None
    wait_us: int


class Question(Value):
    """Too close to call, and the table judges (R18): somebody out or watching says which of `seats`, by `until_us`.

    `hands` is the evidence. No answer in time: the dealer decides.
    """

    id: int
    game: int
    nth: int
    seats: tuple[Seat, Seat]
    hands: tuple[RankedSlap, ...]
    until_us: int


class TableView(Value):
    """The table around the game; `game` counts the games played here. `winners` won the last one.

    `next_deal_us` is the moment of the next deal in a break, 0 where there is none. `asleep`: every person is away
    and the game stands still (R24). `deserted`: everybody else who played is away or has left, and the next deal waits
    for the host (R28). `champions` have just won a tournament of `first_to` wins (R29). `standings` are there between
    games, best first. `removed` are those whom the host has removed.
    """

    code: str
    stage: Stage
    game: int
    rules: Rules
    seats: tuple[TableSeat, ...]
    watching: int
    locked: bool
    paused: bool
    held: bool
    dealer: SeatId | None
    winners: tuple[SeatId, ...]
    next_deal_us: int
    asleep: bool
    first_to: int = 0
    ranked: bool = True
    champions: tuple[SeatId, ...] = ()
    standings: tuple[Standing, ...] = ()
    removed: tuple[Removed, ...] = ()
    deserted: bool = False


class Update(Message, tag="update"):
    """What has happened, to be shown at `show_at_us` on the room's clock and in order; 0 is at once.

    `n` counts the updates of a room: a gap means that something was missed, and the phone joins again. A part that
    has not changed is null. The events belong to the game whose state after them is `view`. Where `say_shown` is false
    no hand on its card will be judged, and nobody needs to hear that the card is painted.
    """

    n: int
    show_at_us: int
    events: tuple[AnyEvent, ...] = ()
    view: GameView | None = None
    verdict: Verdict | None = None
    question: Question | None = None
    table: TableView | None = None
    say_shown: bool = True


class Synced(Message, tag="synced"):
    """The room's clock, in answer to `Sync`."""

    sent_us: int
    room_us: int


class AnyHand(Message, tag="any_hand"):
    """The dealer asks whether a hand on card `nth` has come down there; the page itself answers, with `AllSaid`.

    A phone is asked that may still be earlier than the hands that the dealer has heard of. Its pongs do not know of a
    hand that a busy page has not come to yet.
    """

    game: int
    nth: int


class StoreStalled(Message, tag="store_stalled"):
    """The server waits for its store and the table with it; `on` is false when it goes on."""

    on: bool


class Reacted(Message, tag="reacted"):
    """Somebody shows an emoji; `seat` is null for somebody watching."""

    seat: SeatId | None
    emoji: Emoji


class SuspectFlagged(Message, tag="suspect_flagged"):
    """For the host alone: the hands of `seat` are not what people's are; honest ones look so once in `one_in` runs."""

    seat: SeatId
    one_in: int


class SeatClaimed(Message, tag="seat_claimed"):
    """For the host alone: who says that `seat` is theirs, and until when the host may answer with `GiveSeat`.

    `since_us` is when they came to the table. `same_network`: they come from the network from which that seat came
    last; null where that is not known any more.
    """

    seat: SeatId
    name: str
    face: str
    since_us: int
    until_us: int
    same_network: bool | None


class Tournaments(Message, tag="tournaments"):
    """The last tournaments that have ended at this table, the latest first (R29); the answer to `AskTournaments`."""

    ended: tuple[EndedTournament, ...]


class RejectReason(StrEnum):
    """Why the server or the game did not do as asked; the words for people are the client's."""

    NOT_SEATED = "not_seated"
    NOT_HOST = "not_host"
    NOT_PLAYING = "not_playing"
    ALREADY_PLAYING = "already_playing"
    ALREADY_JOINED = "already_joined"
    ALREADY_SEATED = "already_seated"
    JOIN_FIRST = "join_first"
    OTHER_GAME = "other_game"
    TOO_LATE = "too_late"
    TOO_FEW = "too_few"
    TOO_MANY = "too_many"
    TABLE_FULL = "table_full"
    TABLE_LOCKED = "table_locked"
    NO_SUCH_SEAT = "no_such_seat"
    BAD_NAME = "bad_name"
    BAD_RULES = "bad_rules"
    PAUSED = "paused"
    NO_QUESTION = "no_question"
    TOO_SOON = "too_soon"
    REACTIONS_OFF = "reactions_off"
    REMOVED = "removed"
    NOT_AWAY = "not_away"
    WOULD_CROWN = "would_crown"
    ALREADY_CLAIMED = "already_claimed"
    CAME_BEFORE = "came_before"


class Refused(Message, tag="refused"):
    """The message of kind `of` changed nothing.

    `reason` is a `RejectReason` or an engine `Reason`, `rule` a rule number.
    """

    of: str
    reason: str
    rule: str = ""
    detail: str = ""


class CloseCode(IntEnum):
    """Close codes of our own; the reason text says the same in words, for `MOVED` it is a server's name (P4)."""

    MOVED = 4307
    MALFORMED = 4400
    FOREIGN_ORIGIN = 4403
    NO_SUCH_TABLE = 4404
    JOIN_TIMEOUT = 4408
    SEAT_TAKEN_OVER = 4409
    REMOVED = 4410
    TOO_SLOW = 4413
    WRONG_VERSION = 4426
    TOO_MANY = 4429
    ROOM_FAILED = 4500
    SERVER_FULL = 4503
    STORE_DOWN = 4504


ServerMessage = (
    Welcome
    | Seated
    | Update
    | Synced
    | AnyHand
    | StoreStalled
    | Reacted
    | SuspectFlagged
    | SeatClaimed
    | Tournaments
    | Refused
)
