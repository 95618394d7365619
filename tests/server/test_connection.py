"""How long a connection waits for somebody to come to the table (P5), and whether its kernel sees the phone."""

from pathlib import Path
from typing import cast

import pytest

from server.base.settings import Settings
from server.hosting.mailbox import Mailbox
from server.net.connection import REFUSED_S, Connection, JsonPhone, is_direct
from server.net.link import LinkProtocol
from server.table.mail import ConnId
from tests.server.test_host import FakePhone, World, in_a_world, later
from wire.codec import as_json, write
from wire.frames import frame_of, payload_of
from wire.messages import CloseCode, Join, Lock, Sync

SETTINGS = Settings(data=Path())


class Caller(FakePhone):
    """Somebody with a socket, and what the server has of it."""

    def __init__(self, world: World, conn: int, mailbox: Mailbox) -> None:
        super().__init__(world, ConnId(conn), mailbox, 0)
        mailbox.connect(self.conn, self)
        self.connection = Connection(self.conn, cast(LinkProtocol, self), mailbox, "192.0.2.1", SETTINGS, False)

    peer = "192.0.2.1"

    @property
    def closing(self) -> bool:
        return self.closed is not None

    def sends(self, message: Join | Sync) -> None:
        self.connection.receive(write(message), self.world.clock.now_us(), text=False)


@in_a_world
async def test_whoever_does_not_say_who_they_are_is_hung_up_on(world: World) -> None:
    mailbox, _ = await world.table("Ann")
    eve = Caller(world, 100, mailbox)
    eve.sends(Sync(1))
    await later(SETTINGS.join_timeout_s - 1)
    assert not eve.closing
    await later(2)
    assert eve.closed == CloseCode.JOIN_TIMEOUT


@in_a_world
async def test_whoever_was_refused_may_try_again_for_a_while_and_is_then_hung_up_on(world: World) -> None:
    mailbox, (ann,) = await world.table("Ann")
    ann.say(Lock(True))
    await later(1)
    eve, ben = Caller(world, 100, mailbox), Caller(world, 101, mailbox)
    eve.sends(Join("Eve", "🦊"))
    ben.sends(Join("Ben", "🦊"))
    await later(REFUSED_S)
    ann.say(Lock(False))
    await later(1)
    assert not eve.closing
    ben.sends(Join("Ben", "🦊"))
    await later(SETTINGS.join_timeout_s)
    assert (eve.closed, ben.closed, ann.closed) == (CloseCode.JOIN_TIMEOUT, None, None)
    await later(10 * REFUSED_S)
    assert ben.closed is None


@in_a_world
async def test_a_socket_that_is_gone_is_expected_no_more(world: World) -> None:
    mailbox, _ = await world.table("Ann")
    eve = Caller(world, 100, mailbox)
    eve.connection.end()
    await later(10 * REFUSED_S)
    assert eve.closed is None


@pytest.mark.parametrize(
    ("peer", "address", "direct"),
    [
        ("1.1.1.1", "1.1.1.1", True),
        ("2606:4700:4700::1111", "2606:4700:4700::1111", True),
        ("1.1.1.1", "8.8.8.8", False),  # a proxy that is trusted has said where it comes from
        ("10.0.0.1", "8.8.8.8", False),
        ("10.0.0.1", "10.0.0.1", False),  # a proxy that nobody has named, or a phone at home
        ("127.0.0.1", "127.0.0.1", False),
        ("", "", False),
        ("a socket", "a socket", False),
    ],
)
def test_the_kernel_sees_a_phone_with_a_public_address_that_is_its_own(peer: str, address: str, direct: bool) -> None:
    """Whatever its request says of proxies."""
    assert is_direct(peer, address) is direct


class Paper:
    """A link that keeps what is written."""

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def ping(self) -> None:
        pytest.fail("nobody is asked")

    def hang_up(self, code: int, reason: str) -> None:
        pytest.fail(reason)

    def write(self, frame: bytes) -> bool:
        self.written.append(frame)
        return True


def test_a_frame_is_put_into_json_once_for_all_who_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """P15."""
    put: list[bytes] = []

    def counted(payload: bytes) -> bytes:
        put.append(payload)
        return as_json(payload)

    monkeypatch.setattr("server.net.connection.as_json", counted)
    papers = [Paper() for _ in range(10)]
    phones = [JsonPhone(cast(LinkProtocol, paper)) for paper in papers]
    first, second = frame_of(write(Lock(True))), frame_of(write(Lock(False)))
    for frame in (first, second):
        for phone in phones:
            assert phone.write(frame)
    assert put == [payload_of(first), payload_of(second)]
    for paper in papers:
        assert paper.written == [frame_of(as_json(payload), text=True) for payload in put]
