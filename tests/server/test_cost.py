"""What a message costs, counted and not timed: one table at a whole server in memory (tests/bench/in_memory.py).

The same seed gives the same counts on any machine. `make bench` measures time; this fails where something has become
grossly dearer, such as a frame that is written anew for every phone.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from server.hosting.keeper import Keeper
from server.hosting.mailbox import Mailbox
from server.net.link import LinkProtocol
from server.table.announcer import Announcer
from server.table.mail import Tell
from server.table.records import Change
from server.table.room import Room
from tests.bench.in_memory import played
from wire.messages import Message

ROOT = Path(__file__).parents[2]
OURS = tuple(str(ROOT / part) for part in ("engine", "server", "wire"))


@dataclass(frozen=True)
class Cost:
    """For each message that was delivered: messages encoded, writes to sockets, changes kept, tasks, calls of ours.

    The writes are those for pings as well, and the calls for all that phones say.
    """

    encoded: float
    written: float
    kept: float
    tasks: float
    calls: float


MOST = Cost(encoded=0.5, written=3.0, kept=0.3, tasks=0.3, calls=130)
"""With four phones a card is encoded once, kept once and by one task. Each pong costs calls and each ping a write."""


def cost() -> Cost:
    """What half a minute at a table costs."""
    seen: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            code, caller = frame.f_code, frame.f_back
            page = Path(code.co_filename).name
            by_phones = caller is not None and caller.f_code.co_filename.endswith("phones.py")
            seen[f"{page} {code.co_name}"] += not by_phones
            seen["ours"] += code.co_filename.startswith(OURS)

    tally = played(30, before=lambda: sys.setprofile(count), after=lambda: sys.setprofile(None))
    assert not tally.errors
    assert tally.delivered > 200 and tally.verdicts
    return Cost(
        encoded=seen["codec.py write"] / tally.delivered,
        written=seen["in_memory.py write"] / tally.delivered,
        kept=seen["test_host.py keep"] / tally.delivered,
        tasks=seen["base_events.py create_task"] / tally.delivered,
        calls=seen["ours"] / tally.delivered,
    )


def dearer(found: Cost) -> set[str]:
    """What costs more than it may."""
    most = asdict(MOST)
    return {what for what, times in asdict(found).items() if times > most[what]}


def test_a_message_costs_no_more_than_it_did() -> None:
    found = cost()
    assert not dearer(found), found


# --- each of these is noticed ------------------------------------------------------------------------------------


def written_anew_for_every_phone(patch: pytest.MonkeyPatch) -> None:
    def everybody(announcer: Announcer, message: Message, but: Any = None) -> None:
        announcer._outbox.effects.extend(Tell((conn,), message) for conn in announcer._state.guests if conn != but)

    patch.setattr(Announcer, "everybody", everybody)


def written_in_two_pieces(patch: pytest.MonkeyPatch) -> None:
    def write(link: LinkProtocol, frame: bytes) -> bool:
        link.transport.write(frame[:2])
        return whole(link, frame[2:])

    whole = LinkProtocol.write
    patch.setattr(LinkProtocol, "write", write)


def kept_for_every_phone(patch: pytest.MonkeyPatch) -> None:
    async def keep(keeper: Keeper, change: Change) -> int:
        return max([await once(keeper, change) for _ in range(4)])

    once = Keeper.keep
    patch.setattr(Keeper, "keep", keep)


def a_task_for_every_input(patch: pytest.MonkeyPatch) -> None:
    async def later(mailbox: Mailbox, *happened: Any) -> None:
        at_once(mailbox, *happened)

    def post(mailbox: Mailbox, *happened: Any) -> None:
        tasks.append(asyncio.ensure_future(later(mailbox, *happened)))

    tasks: list[asyncio.Task[None]] = []
    at_once = Mailbox._post
    patch.setattr(Mailbox, "_post", post)


def the_whole_table_looked_at_for_every_input(patch: pytest.MonkeyPatch) -> None:
    def receive(room: Room, *happened: Any) -> Any:
        room._settled = None
        return as_it_is(room, *happened)

    as_it_is = Room.receive
    patch.setattr(Room, "receive", receive)


@pytest.mark.parametrize(
    ("waste", "what"),
    [
        (written_anew_for_every_phone, "encoded"),
        (written_in_two_pieces, "written"),
        (kept_for_every_phone, "kept"),
        (a_task_for_every_input, "tasks"),
        (the_whole_table_looked_at_for_every_input, "calls"),
    ],
)
def test_waste_is_noticed(
    waste: Callable[[pytest.MonkeyPatch], None], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waste(monkeypatch)
    found = cost()
    assert what in dearer(found), found
