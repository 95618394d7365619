"""A session without a socket: what it says, shows, stamps and how it comes back (docs/protocol.md, P5 to P9)."""

from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clients.sdk import (
    GONE,
    BadFrame,
    ForeignOrigin,
    JoinRefused,
    Lost,
    NoSuchTable,
    NotAtTable,
    Removed,
    Resumed,
    ServerGone,
    Session,
    TakenOver,
    TooMany,
    WrongVersion,
)
from engine.game import Seat, Side, WrongSlap
from tests.support.tables import a_game, a_table, turned
from wire.codec import read_client_message, write
from wire.messages import (
    AllSaid,
    AnyHand,
    CloseCode,
    DoCall,
    DoCarryOn,
    DoSlap,
    DoTurn,
    Join,
    Lock,
    Message,
    Point,
    Question,
    Quit,
    Reacted,
    Refused,
    RejectReason,
    Seated,
    SeatId,
    Shown,
    Stage,
    SuspectFlagged,
    Sync,
    Synced,
    Update,
    Welcome,
)

MS = 1_000
S = 1_000_000
AHEAD_US = 50_000 * S
"""The room's clock minus ours, in all these tests."""


def welcome(now_us: int, **fields: Any) -> Welcome:
    plain: dict[str, Any] = {"code": "K7WQ2M", "key": "secret", "seat": SeatId("s0"), "room_us": now_us + AHEAD_US}
    return Welcome(**{**plain, **fields})


class Phone:
    """A session, the way its caller sees it."""

    def __init__(self, entropy: float = 0.0, **options: Any) -> None:
        self.now_us = 1_000 * S
        self.session = Session(Join(name="Robin", face="🙂"), lambda: entropy, **options)
        self.said: list[Message] = []
        self.n = 0

    def open(self) -> "Phone":
        self.session.opened(self.now_us)
        return self.take()

    def join(self) -> "Phone":
        return self.open().hear(welcome(self.now_us)).tell(table=a_table(), view=a_game())

    def hear(self, message: Message) -> "Phone":
        self.session.received(write(message), self.now_us)
        return self.wake()

    def tell(self, show_at_us: int = 0, **parts: Any) -> "Phone":
        self.n += 1
        return self.hear(Update(n=self.n, show_at_us=show_at_us, **parts))

    def wake(self) -> "Phone":
        self.session.wake(self.now_us)
        return self.take()

    def take(self) -> "Phone":
        self.said += [read_client_message(frame) for frame in self.session.take_frames()]
        return self

    def later(self, us: int) -> "Phone":
        self.now_us += us
        return self.wake()

    def paint(self) -> "Phone":
        self.session.painted(self.now_us)
        return self.take()

    def close(self, code: int, reason: str = "") -> "Phone":
        self.session.closed(code, reason, self.now_us)
        return self

    def faces(self) -> list[str]:
        """The landed cards as shown."""
        return [card.face for card in self.session.view.landed] if self.session.view else []

    def last(self, kind: type[Message]) -> Any:
        return next(message for message in reversed(self.said) if isinstance(message, kind))


# --- joining and coming back -------------------------------------------------------------------------------------


def test_the_first_message_is_join() -> None:
    """P5."""
    phone = Phone().open()
    assert phone.said == [Join(name="Robin", face="🙂")]
    assert not phone.session.online


def test_the_welcome_gives_seat_and_key() -> None:
    phone = Phone().join()
    assert (phone.session.online, phone.session.seat, phone.session.key) == (True, "s0", "secret")
    assert phone.session.place == 0
    assert phone.session.dial_at_us is None


def test_a_spectator_who_sits_down_has_a_seat() -> None:
    phone = Phone().open().hear(welcome(0, seat=None)).tell(table=a_table())
    assert not phone.session.my_turn
    phone.hear(Seated(SeatId("s1")))
    assert phone.session.seat == "s1"
    assert phone.session.place == 1


def test_a_dropped_socket_leads_back_with_the_key() -> None:
    """P7."""
    phone = Phone().join()
    phone.session.take_events()
    phone.close(GONE, "broken")
    assert phone.session.take_events() == [Lost(GONE, "broken")]
    assert not phone.session.online
    phone.now_us = phone.session.dial_at_us or 0
    phone.open()
    assert phone.said[-1] == Join(name="Robin", face="🙂", key="secret")
    phone.hear(welcome(phone.now_us))
    assert phone.session.take_events() == [Resumed()]


def test_what_was_due_before_the_drop_is_told_before_it() -> None:
    phone = Phone().join()
    phone.session.take_events()
    due, later = Update(n=2, show_at_us=0), Update(n=3, show_at_us=phone.now_us + AHEAD_US + 200 * MS)
    for update in (due, later):
        phone.session.received(write(update), phone.now_us)
    phone.close(GONE)
    assert phone.session.take_events() == [due, Lost(GONE, "")]


@pytest.mark.parametrize("entropy", [0.0, 0.999])
def test_dialling_backs_off_with_jitter(entropy: float) -> None:
    """P7: never sooner than half the pause, never later than the pause."""
    phone = Phone(entropy).join().later(9 * S)
    waits_ms = []
    for _ in range(7):
        phone.close(GONE)
        assert phone.session.dial_at_us is not None
        waits_ms.append((phone.session.dial_at_us - phone.now_us) / MS)
        phone.now_us = phone.session.dial_at_us
    pauses_ms = [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]
    assert waits_ms == pytest.approx([pause * (0.5 + entropy / 2) for pause in pauses_ms], abs=0.01)


def test_a_room_that_fails_again_and_again_is_not_dialled_ever_faster() -> None:
    phone = Phone().join()
    waits_us = []
    for _ in range(4):
        phone.close(CloseCode.ROOM_FAILED)
        assert phone.session.dial_at_us is not None
        waits_us.append(phone.session.dial_at_us - phone.now_us)
        phone.now_us = phone.session.dial_at_us
        phone.n = 0
        phone.join()
    assert waits_us == sorted(set(waits_us))


def test_a_lost_server_is_sought_until_patience_ends() -> None:
    phone = Phone(patience_us=20 * S).join()
    lost_us = phone.now_us
    while phone.close(GONE, "refused").session.error is None:
        assert phone.session.dial_at_us is not None
        phone.now_us = phone.session.dial_at_us
    assert isinstance(phone.session.error, ServerGone)
    assert 20 * S <= phone.now_us - lost_us < 25 * S
    assert phone.session.dial_at_us is None


def test_a_server_that_was_never_there_is_not_sought() -> None:
    phone = Phone().close(GONE, "connection refused")
    assert isinstance(phone.session.error, ServerGone)
    assert "connection refused" in str(phone.session.error)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (CloseCode.MALFORMED, BadFrame),
        (CloseCode.FOREIGN_ORIGIN, ForeignOrigin),
        (CloseCode.NO_SUCH_TABLE, NoSuchTable),
        (CloseCode.SEAT_TAKEN_OVER, TakenOver),
        (CloseCode.REMOVED, Removed),
        (CloseCode.WRONG_VERSION, WrongVersion),
        (CloseCode.TOO_MANY, TooMany),
    ],
)
def test_final_close_codes_end_it_with_their_error(code: CloseCode, error: type[NotAtTable]) -> None:
    """P4."""
    phone = Phone().join().close(code, "in words")
    assert type(phone.session.error) is error
    assert str(phone.session.error) == "in words"
    assert phone.session.dial_at_us is None


@pytest.mark.parametrize(
    "code", [1000, 1001, 1012, CloseCode.JOIN_TIMEOUT, CloseCode.TOO_SLOW, CloseCode.ROOM_FAILED, CloseCode.SERVER_FULL]
)
def test_after_other_close_codes_it_comes_back(code: int) -> None:
    """P4, P7."""
    phone = Phone().join().close(code)
    assert phone.session.error is None
    assert phone.session.dial_at_us is not None


def test_p16_it_follows_to_the_server_that_has_the_table() -> None:
    phone = Phone().open().close(CloseCode.MOVED, "node-2")
    assert (phone.session.node, phone.session.dial_at_us) == ("node-2", phone.now_us)
    assert phone.join().session.online


def test_p16_where_the_named_server_is_not_reached_it_goes_back_to_whichever_there_is() -> None:
    phone = Phone().open().close(CloseCode.MOVED, "node-2").close(GONE, "connection refused")
    assert (phone.session.error, phone.session.node) == (None, "")
    assert phone.session.dial_at_us == phone.now_us + 125 * MS


def test_p16_it_also_goes_back_when_a_socket_that_it_followed_is_closed() -> None:
    phone = Phone().open().close(CloseCode.MOVED, "node-2").join().close(GONE)
    assert phone.session.node == ""


def test_p16_servers_that_point_at_each_other_are_not_followed_for_ever() -> None:
    phone = Phone().join()
    at_once = 0
    for nth in range(40):
        phone.close(CloseCode.MOVED, f"node-{nth % 2}")
        at_once += phone.session.dial_at_us == phone.now_us
        phone.now_us = phone.session.dial_at_us or 0
        phone.open()
    assert at_once == 30
    assert phone.now_us > 1_015 * S
    assert phone.hear(welcome(phone.now_us)).close(CloseCode.MOVED, "node-1").session.node == "node-1"


@pytest.mark.parametrize("name", ["", "Node", "a/../b", "a" * 33, "node\n"])
def test_p16_what_is_no_servers_name_is_not_put_into_an_address(name: str) -> None:
    phone = Phone().join().close(CloseCode.MOVED, name)
    assert phone.session.node == ""
    assert phone.session.dial_at_us == phone.now_us + 125 * MS


@pytest.mark.parametrize("entropy", [0.0, 0.5, 0.999])
def test_p16_after_a_restart_it_comes_back_at_once_but_not_with_all_others(entropy: float) -> None:
    phone = Phone(entropy).join().close(1012)
    assert phone.session.dial_at_us == phone.now_us + round(200 * MS * entropy)
    phone.now_us = phone.session.dial_at_us
    phone.open().close(1012)
    assert phone.session.dial_at_us >= phone.now_us + 250 * MS


def test_p16_a_server_that_stops_before_it_has_let_anybody_in_is_sought_for_as_long_as_one_has_patience() -> None:
    phone = Phone(patience_us=20 * S).open().close(1012)
    began_us = phone.now_us
    while phone.session.dial_at_us is not None:
        phone.now_us = phone.session.dial_at_us
        phone.close(GONE)
    assert isinstance(phone.session.error, ServerGone)
    assert 20 * S <= phone.now_us - began_us < 25 * S


def test_a_refused_join_says_why() -> None:
    phone = Phone().open().hear(Refused(of="join", reason="table_full"))
    assert isinstance(phone.session.error, JoinRefused)
    assert phone.session.error.reason == "table_full"
    assert phone.session.stale


def test_another_version_is_noticed() -> None:
    phone = Phone().open()
    phone.hear(welcome(phone.now_us, protocol=99))
    assert isinstance(phone.session.error, WrongVersion)


def test_what_cannot_be_read_is_said_to_be_so() -> None:
    phone = Phone().join()
    phone.session.received(b"\xc1", phone.now_us)
    assert isinstance(phone.session.error, BadFrame)
    assert phone.session.stale


def test_what_a_newer_server_says_besides_is_ignored() -> None:
    """P13."""
    phone = Phone().join()
    told = len(phone.session.take_events())
    assert told
    phone.session.received(msgspec.msgpack.encode({"t": "waved", "seat": "s1"}), phone.now_us)
    assert phone.session.take_events() == []
    fields = msgspec.msgpack.decode(write(Update(n=phone.n + 1, show_at_us=0, view=a_game(["JS"]))))
    fields |= {"weather": "fine", "events": [{"event": "waved", "seat": 1}]}
    phone.session.received(msgspec.msgpack.encode(fields), phone.now_us)
    assert phone.wake().faces() == ["JS"]
    assert phone.session.error is None
    assert phone.session.online


def test_quitting_is_said_and_does_not_lead_back() -> None:
    phone = Phone().join()
    phone.session.say(Quit())
    phone.take().close(1000)
    assert phone.said[-1] == Quit()
    assert phone.session.error is None
    assert phone.session.dial_at_us is None


def test_who_quits_without_a_socket_says_so_on_the_way_back() -> None:
    """A seat is not given up by silence (R25)."""
    phone = Phone().join().close(GONE)
    phone.session.say(Quit())
    assert phone.session.dial_at_us is not None
    phone.now_us = phone.session.dial_at_us
    assert phone.open().said[-1] == Join(name="Robin", face="🙂", key="secret")
    assert not any(isinstance(message, Quit) for message in phone.said)
    phone.hear(welcome(phone.now_us))
    assert any(isinstance(message, Quit) for message in phone.said)
    assert phone.close(CloseCode.REMOVED).session.dial_at_us is None
    assert phone.session.error is None


def test_who_has_quit_follows_the_table_to_say_so_if_there_is_a_seat_to_give_up() -> None:
    """P16."""
    phone = Phone().join().close(GONE)
    phone.session.say(Quit())
    phone.open().close(CloseCode.MOVED, "node-2")
    assert phone.session.dial_at_us is not None
    newcomer = Phone().open()
    newcomer.session.say(Quit())
    assert newcomer.close(CloseCode.MOVED, "node-2").session.dial_at_us is None


def test_the_tables_judge_points_while_there_is_something_to_judge() -> None:
    """R18."""
    question = Question(id=7, game=1, nth=1, seats=(Seat(1), Seat(0)), hands=(), until_us=0)
    phone = Phone().join()
    phone.session.point(Seat(1))
    assert not any(isinstance(message, Point) for message in phone.take().said)
    phone.tell(view=a_game(["JS"]), question=question).tell(table=a_table(watching=1))
    assert phone.session.question == question
    phone.session.point(Seat(1))
    assert phone.take().said[-1] == Point(question=7, seat=Seat(1))
    phone.tell(view=a_game([]))
    assert phone.session.question is None


def test_nothing_is_said_without_a_socket() -> None:
    phone = Phone().join().close(GONE)
    phone.session.say(Lock(True))
    phone.session.turn(phone.now_us)
    assert phone.session.take_frames() == []


# --- gaps and silence --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("skip", [1, -1, 40])
def test_a_gap_in_n_makes_the_socket_stale(skip: int) -> None:
    """P6: something was missed (or came twice), so what is shown may be wrong."""
    phone = Phone().join().tell(view=a_game(["2S"]))
    phone.session.take_events()
    phone.n += skip
    phone.tell(view=a_game(["2S", "3S", "4S"]))
    assert phone.session.stale
    assert phone.session.view == a_game(["2S"])
    phone.close(1000)
    assert [type(event) for event in phone.session.take_events()] == [Lost]
    phone.n = 70
    phone.join()
    assert not phone.session.stale


def test_a_dead_socket_is_given_up() -> None:
    phone = Phone().join()
    silent_since_us = phone.now_us
    while not phone.session.stale:
        wake_at_us = phone.session.wake_at_us()
        assert wake_at_us is not None
        assert wake_at_us > phone.now_us
        phone.later(wake_at_us - phone.now_us)
    assert phone.now_us - silent_since_us == 10 * S
    assert phone.session.wake_at_us() is None


def test_a_server_that_does_not_answer_the_join_is_given_up() -> None:
    phone = Phone().open()
    phone.later((phone.session.wake_at_us() or 0) - phone.now_us)
    assert phone.session.stale


# --- the room's clock --------------------------------------------------------------------------------------------


def test_the_clock_is_asked_for_in_a_burst_and_then_now_and_then() -> None:
    """P8."""
    phone = Phone().join()
    asked_us: list[int] = []
    while len(asked_us) < 8:
        before = len(phone.said)
        phone.later((phone.session.wake_at_us() or 0) - phone.now_us)
        for sync in phone.said[before:]:
            assert isinstance(sync, Sync)
            asked_us.append(phone.now_us)
            phone.hear(Synced(sync.sent_us, phone.now_us + AHEAD_US))
    gaps_ms = [(b - a) / MS for a, b in pairwise(asked_us)]
    assert gaps_ms == [200, 200, 200, 2_500, 2_500, 2_500, 2_500]


def test_each_socket_begins_a_new_estimate() -> None:
    """Another server may have another clock."""
    phone = Phone().join().close(GONE).later(S)
    phone.n = 0
    phone.open().hear(welcome(phone.now_us, room_us=77))
    assert phone.session.clock.room_us(phone.now_us) == 77


def test_the_dealers_question_for_hands_is_answered_at_once_and_after_them() -> None:
    """P10: whatever is held for its moment."""
    phone = Phone().join()
    phone.tell(events=(turned(1, "JS"),), view=a_game(["JS"])).paint()
    phone.tell(phone.now_us + AHEAD_US + S)
    phone.session.slap(phone.now_us + 300 * MS)
    phone.hear(AnyHand(1, 1))
    phone.take()
    assert phone.said[-2:] == [DoSlap(1, 1, 300 * MS), AllSaid(1, 1)]


# --- showing -----------------------------------------------------------------------------------------------------


def test_an_update_is_held_until_its_moment() -> None:
    """P9, R3: not a microsecond early, whatever else goes on."""
    phone = Phone().join()
    moment_us = phone.now_us + 130 * MS
    phone.tell(moment_us + AHEAD_US, events=(turned(1, "JS"),), view=a_game(["JS"]))
    phone.later(130 * MS - 1)
    assert phone.faces() == []
    assert phone.session.wake_at_us() == moment_us
    phone.later(1)
    assert phone.faces() == ["JS"]


def test_updates_are_shown_in_order() -> None:
    phone = Phone().join()
    phone.session.take_events()
    phone.tell(phone.now_us + AHEAD_US + 90 * MS, view=a_game(["2S"]))
    phone.tell(0, view=a_game(["2S", "3S"]))
    assert phone.session.take_events() == []
    phone.later(90 * MS)
    assert [update.n for update in phone.session.take_events() if isinstance(update, Update)] == [2, 3]


def test_nothing_is_held_longer_than_a_second() -> None:
    """P9: a clock that is wrong by an hour must not stop the table."""
    phone = Phone().join()
    phone.tell(phone.now_us + AHEAD_US + 3_600 * S, view=a_game(["2S"]))
    phone.later(S - 1)
    assert phone.faces() == []
    phone.later(1)
    assert phone.faces() == ["2S"]


def test_a_card_that_comes_late_is_shown_at_once_and_is_late() -> None:
    phone = Phone().join()
    phone.tell(phone.now_us + AHEAD_US - 80 * MS, events=(turned(1, "2S"),), view=a_game(["2S"])).paint()
    assert phone.last(Shown) == Shown(game=1, nth=1, late_us=80 * MS)


def test_a_card_whose_hands_nobody_will_judge_is_not_reported_and_hands_on_it_are_timed() -> None:
    phone = Phone().join()
    phone.tell(events=(turned(1, "2S"),), view=a_game(["2S"]), say_shown=False).paint()
    assert not any(isinstance(message, Shown) for message in phone.said)
    phone.session.slap(phone.now_us + 300 * MS)
    phone.take()
    assert phone.last(DoSlap).reaction_us == 300 * MS


def test_a_part_that_has_not_changed_stays() -> None:
    phone = Phone().join().tell(view=a_game(["2S"]))
    phone.tell(table=a_table(locked=True))
    assert phone.session.view == a_game(["2S"])
    assert phone.session.table == a_table(locked=True)


def test_a_game_that_is_no_more_is_not_shown_on_coming_back() -> None:
    """P6: the server was killed in the middle of it."""
    phone = Phone().join().tell(view=a_game(["2S"])).close(GONE)
    phone.open().hear(welcome(phone.now_us))
    phone.n = 0
    phone.tell(table=a_table(stage=Stage.LOBBY))
    assert phone.session.view is None


def test_refusals_and_reactions_are_told_at_once() -> None:
    phone = Phone().join()
    phone.session.take_events()
    phone.tell(phone.now_us + AHEAD_US + 90 * MS, view=a_game(["2S"]))
    told = [
        Refused(of="slap", reason="nothing_to_slap", rule="R7d"),
        Reacted(SeatId("s1"), "🎉"),
        SuspectFlagged(SeatId("s1"), 9),
    ]
    for message in told:
        phone.hear(message)
    assert phone.session.take_events() == told


# --- stamping ----------------------------------------------------------------------------------------------------


def test_a_reaction_runs_from_the_painting_to_the_hand() -> None:
    """Both on our own clock: neither the room's clock nor the way there enters it (docs/fairness.md)."""
    phone = Phone().join()
    phone.tell(phone.now_us + AHEAD_US + 50 * MS, events=(turned(1, "JS"),), view=a_game(["JS"]))
    phone.later(50 * MS).later(7 * MS).paint()
    assert phone.last(Shown) == Shown(game=1, nth=1, late_us=7 * MS)
    phone.session.slap(phone.now_us + 312 * MS, Side.LEFT)
    phone.later(400 * MS)
    assert phone.last(DoSlap) == DoSlap(game=1, nth=1, reaction_us=312 * MS, side=Side.LEFT)


def test_a_turn_is_measured_against_the_card_that_it_covers() -> None:
    """R6, R7f."""
    phone = Phone().join().tell(events=(turned(1, "JS"),), view=a_game(["JS"])).paint()
    phone.session.turn(phone.now_us + 850 * MS)
    assert phone.take().last(DoTurn) == DoTurn(game=1, nth=2, reaction_us=850 * MS)


def test_with_nothing_on_top_there_is_no_reaction() -> None:
    phone = Phone().join().tell(view=a_game(["JS"], pile=0, landed=())).paint()
    phone.session.turn(phone.now_us)
    phone.session.slap(phone.now_us)
    phone.take()
    assert phone.last(DoTurn) == DoTurn(game=1, nth=2, reaction_us=None)
    assert phone.last(DoSlap) == DoSlap(game=1, nth=1, reaction_us=None)


def test_a_hand_before_the_painting_has_no_stamp() -> None:
    phone = Phone().join().tell(events=(turned(1, "JS"),), view=a_game(["JS"]))
    phone.session.slap(phone.now_us)
    assert phone.take().last(DoSlap).reaction_us is None


def test_a_card_found_on_coming_back_is_stamped_when_it_is_seen() -> None:
    phone = Phone().open()
    phone.hear(welcome(phone.now_us)).tell(table=a_table(), view=a_game(["2S", "JS"]))
    phone.later(5 * MS).paint()
    assert phone.last(Shown) == Shown(game=1, nth=2, late_us=5 * MS)
    phone.session.slap(phone.now_us + 250 * MS)
    assert phone.take().last(DoSlap) == DoSlap(game=1, nth=2, reaction_us=250 * MS)


def test_a_card_is_stamped_once() -> None:
    phone = Phone().join().tell(events=(turned(1, "JS"),), view=a_game(["JS"])).paint()
    phone.later(100 * MS).tell(table=a_table(watching=1), view=a_game(["JS"])).paint()
    phone.session.slap(phone.now_us)
    assert phone.take().last(DoSlap).reaction_us == 100 * MS
    assert sum(isinstance(message, Shown) for message in phone.said) == 1


def test_p9_a_stamp_outlives_its_socket() -> None:
    """Others have seen that card all the while: to come back to it is no new beginning."""
    phone = Phone().join().tell(events=(turned(1, "JS"),), view=a_game(["JS"])).paint().close(GONE)
    phone.later(200 * MS).open().hear(welcome(phone.now_us))
    phone.n = 0
    phone.session.slap(phone.now_us)
    assert not any(isinstance(message, DoSlap) for message in phone.take().said), "before it sees what lies there now"
    phone.tell(table=a_table(), view=a_game(["JS"])).paint()
    phone.session.slap(phone.now_us + 150 * MS)
    assert phone.take().last(DoSlap).reaction_us == 350 * MS


@pytest.mark.parametrize("comes_back", [True, False])
def test_p9_a_card_that_is_shown_afresh_is_stamped_anew(comes_back: bool) -> None:
    """After a restart, and after a server has stood still, on the same socket."""
    phone = Phone().join().tell(events=(turned(1, "JS"),), view=a_game(["JS"])).paint().later(S)
    if comes_back:
        phone.close(GONE).open().hear(welcome(phone.now_us))
        phone.n = 0
    phone.tell(phone.now_us + AHEAD_US + 60 * MS, table=a_table() if comes_back else None, view=a_game(["JS"]))
    phone.later(60 * MS)
    phone.session.slap(phone.now_us)
    assert phone.take().last(DoSlap).reaction_us is None, "it is not painted yet"
    phone.later(7 * MS).paint()
    assert phone.last(Shown) == Shown(game=1, nth=1, late_us=7 * MS)
    phone.session.slap(phone.now_us + 250 * MS)
    assert phone.take().last(DoSlap).reaction_us == 250 * MS


def test_p9_a_hand_may_be_given_again_on_a_card_that_is_shown_afresh() -> None:
    """Though the one before is refused so late that the card has been shown already."""
    phone = Phone().join().tell(events=(turned(1, "JS"),), view=a_game(["JS"])).paint()
    phone.session.slap(phone.now_us)
    phone.later(S).tell(phone.now_us + AHEAD_US, view=a_game(["JS"])).later(MS).paint()
    phone.hear(Refused("slap", RejectReason.PAUSED))
    phone.session.slap(phone.now_us)
    assert sum(isinstance(message, DoSlap) for message in phone.take().said) == 2


def test_p9_a_card_is_late_by_its_own_moment_whatever_is_shown_before_it_is_painted() -> None:
    phone = Phone().join()
    phone.tell(phone.now_us + AHEAD_US, events=(turned(1, "JS"),), view=a_game(["JS"]))
    phone.later(5 * MS).tell(events=(WrongSlap(Seat(1), 1, 0, None),), view=a_game(["JS"])).later(2 * MS).paint()
    assert phone.last(Shown) == Shown(game=1, nth=1, late_us=7 * MS)


def test_stamps_do_not_outlive_their_game() -> None:
    phone = Phone().join().tell(events=(turned(1, "JS"),), view=a_game(["JS"])).paint()
    phone.later(S).tell(table=a_table(game=2), view=a_game())
    phone.later(S).tell(events=(turned(1, "QS"),), view=a_game(["QS"])).later(MS).paint()
    phone.session.slap(phone.now_us + 300 * MS)
    assert phone.take().last(DoSlap) == DoSlap(game=2, nth=1, reaction_us=300 * MS)


def test_whose_turn_it_is() -> None:
    def mine(**parts: Any) -> tuple[int | None, bool]:
        phone.tell(**parts)
        return phone.session.place, phone.session.my_turn

    phone = Phone().join()
    assert mine(view=a_game()) == (0, True)
    assert mine(view=a_game(["2S"])) == (0, False)
    assert mine(table=a_table(seats=0), view=a_game()) == (None, False)


def test_a_refused_move_is_not_said_again_before_something_new_is_shown() -> None:
    phone = Phone().join().tell(events=(turned(1, "JS"),), view=a_game(["JS"])).paint()

    def slaps(side: Side = Side.NONE) -> int:
        before = len(phone.said)
        phone.session.slap(phone.now_us, side)
        return len(phone.take().said) - before

    assert slaps() == 1
    assert slaps() == 1
    phone.hear(Refused(of="slap", reason="paused"))
    assert slaps() == 0
    assert slaps(Side.LEFT) == 1
    phone.tell(table=a_table(watching=1))
    assert slaps() == 1


# --- whatever comes ----------------------------------------------------------------------------------------------

messages = st.one_of(
    st.builds(
        Update,
        n=st.integers(0, 4),
        show_at_us=st.integers(0, 2 * S) | st.integers(1_000 * S + AHEAD_US, 1_002 * S + AHEAD_US),
        view=st.sampled_from([None, a_game(), a_game(["JS"]), a_game(["JS", "2H"])]),
        table=st.sampled_from([None, a_table(), a_table(game=2)]),
    ),
    st.builds(AnyHand, game=st.integers(0, 2), nth=st.integers(0, 3)),
    st.builds(Synced, sent_us=st.integers(0, 2_000 * S), room_us=st.integers(-(2**60), 2**60)),
    st.builds(welcome, st.integers(0, 2_000 * S)),
    st.builds(Refused, of=st.sampled_from(["join", "slap"]), reason=st.just("paused")),
)
inputs = st.one_of(
    messages.map(write), st.binary(max_size=40), st.sampled_from([GONE, 1000, 4409]), st.integers(0, 3 * S).map(float)
)


@settings(deadline=None)
@given(st.lists(inputs, max_size=40))
def test_whatever_comes_it_neither_breaks_nor_spins(story: list[bytes | int | float]) -> None:
    """Frames, closings and pauses in any order: a waking leaves the next one in the future, or nothing to wait for."""
    phone = Phone(patience_us=5 * S)
    for part in story:
        session = phone.session
        if session.error is not None:
            assert session.dial_at_us is None or session.stale
            break
        if session.dial_at_us is not None:
            phone.now_us = max(phone.now_us, session.dial_at_us)
            phone.open()
        match part:
            case bytes():
                session.received(part, phone.now_us)
            case int():
                phone.close(part)
            case float():
                phone.now_us += round(part)
        phone.wake().paint()
        wake_at_us = session.wake_at_us()
        assert wake_at_us is None or wake_at_us > phone.now_us
        assert len(session.take_events()) <= 50
        if session.stale and session.error is None:
            phone.close(1000)


def test_every_frame_it_sends_is_one_the_server_reads() -> None:
    phone = Phone().join().tell(events=(turned(1, "JS"),), view=a_game(["JS"])).paint()
    phone.session.turn(phone.now_us)
    phone.session.slap(phone.now_us)
    phone.session.call(phone.now_us)
    phone.session.carry_on()
    phone.take()
    assert phone.said[-4:] == [DoTurn(1, 2, 0), DoSlap(1, 1, 0), DoCall(1, 1, 0), DoCarryOn(1, 1)]
