"""What should not come over the wire gets its typed answer, changes nothing and disturbs nobody (P1 to P5, P11)."""

import asyncio
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import msgpack
import pytest
import websockets

from clients.sdk import (
    BadFrame,
    ForeignOrigin,
    JoinRefused,
    NoSuchTable,
    Player,
    ServerGone,
    TooMany,
    WrongVersion,
    connect,
    create_table,
)
from engine.game import Reason, Seat
from engine.rules import Rules
from tests.support.company import caught_up, company, raw, refusal, seen
from tests.support.serving import Served, served
from wire.codec import write
from wire.messages import (
    MAX_FRAME_BYTES,
    MAX_SEATS,
    AddComputer,
    CloseCode,
    DoCall,
    DoCarryOn,
    DoSlap,
    DoTurn,
    Join,
    Lock,
    Message,
    Pause,
    Point,
    Refused,
    RejectReason,
    Remove,
    Rename,
    SeatId,
    SetRules,
    Stage,
    Start,
    Sync,
    Synced,
    Welcome,
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """None of this gets as far as the store, so one kind of it will do."""
    with served(tmp_path_factory.mktemp("server")) as running:
        yield running


TOO_BIG = 1009
"""A message too big (RFC 6455, section 7.4.1)."""


@asynccontextmanager
async def undisturbed(bystander: Player) -> AsyncIterator[None]:
    """Whatever is done inside, this player sees no change and stays connected."""
    await caught_up(bystander)
    before = seen(bystander)
    yield
    await caught_up(bystander)
    assert seen(bystander) == before
    assert bystander.online


# --- the way in --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["222222", "K7WQ2", "K7WQ2MM", "OOOOOO", "%00%00%00%00%00%00", "..%2f..%2f", "🙂"])
async def test_a_wrong_code(server: Served, code: str) -> None:
    async with company(server.url, "Ann") as (ann,), undisturbed(ann):
        with pytest.raises(NoSuchTable, match="no table with this code"):
            async with connect(server.url, code, name="Eve"):
                pytest.fail("there is no such table")


def test_a_wrong_code_over_http(server: Served) -> None:
    """P14."""
    with pytest.raises(urllib.error.HTTPError) as answer:
        urllib.request.urlopen(f"{server.url}/api/tables/222222", timeout=10)
    with answer.value:
        assert answer.value.code == 404


async def test_a_full_table(server: Served) -> None:
    async with company(server.url, "Ann") as (ann,):
        for _ in range(MAX_SEATS - 1):
            ann.say(AddComputer())
        await ann.until(lambda p: len(p.table.seats) == MAX_SEATS)
        async with undisturbed(ann):
            assert (await refusal(ann, AddComputer())).reason == RejectReason.TABLE_FULL
            with pytest.raises(JoinRefused) as refused:
                async with connect(server.url, ann.table.code, name="Eve"):
                    pytest.fail("there is no seat left")
            assert refused.value.reason == RejectReason.TABLE_FULL
        async with connect(server.url, ann.table.code, name="Wim", watch=True) as wim:
            assert wim.seat is None


@pytest.mark.parametrize("watch", [False, True])
async def test_a_locked_table(server: Served, watch: bool) -> None:
    async with company(server.url, "Ann", "Ben") as (ann, ben):
        ann.say(Lock(True))
        await ann.until(lambda p: p.table.locked)
        async with undisturbed(ann):
            with pytest.raises(JoinRefused) as refused:
                async with connect(server.url, ann.table.code, name="Eve", watch=watch):
                    pytest.fail("the table is locked")
            assert refused.value.reason == RejectReason.TABLE_LOCKED
        await ben.close()
        async with connect(server.url, ann.table.code, name="Ben", key=ben.key) as again:
            assert again.seat == ben.seat


BAD_NAMES = ["   ", "\u200d\u200d", "\u202e", "x" * 21, "x" * 80, "<b>Eve</b>", "<script>alert(1)</script>"]


@pytest.mark.parametrize("name", BAD_NAMES)
async def test_a_name_that_cannot_stand(server: Served, name: str) -> None:
    async with company(server.url, "Ann") as (ann,), undisturbed(ann):
        with pytest.raises(JoinRefused) as refused:
            async with connect(server.url, ann.table.code, name=name):
                pytest.fail("the name stands")
        assert refused.value.reason == RejectReason.BAD_NAME
        assert (await refusal(ann, Rename(name=name, face="🙂"))).reason == RejectReason.BAD_NAME


@pytest.mark.parametrize("name", ["", "x" * 201, "x" * 5_000])
async def test_a_name_that_is_no_name_on_the_wire(server: Served, name: str) -> None:
    async with company(server.url, "Ann") as (ann,), undisturbed(ann):
        async with raw(server.url, ann.table.code) as eve:
            await eve.say(Join(name=name, face="🙂"))
            code, _ = await eve.hear_out()
            assert code in (CloseCode.MALFORMED, TOO_BIG)


async def test_another_version(server: Served) -> None:
    """P13."""
    async with company(server.url, "Ann") as (ann,), undisturbed(ann):
        async with raw(server.url, ann.table.code) as eve:
            await eve.say(Join(name="Eve", face="🙂", protocol=99))
            assert (await eve.hear_out())[0] == CloseCode.WRONG_VERSION
    assert WrongVersion.code == CloseCode.WRONG_VERSION


async def test_a_refused_join_may_be_tried_again_on_the_same_socket(server: Served) -> None:
    """P5."""
    async with company(server.url, "Ann") as (ann,), raw(server.url, ann.table.code) as eve:
        await eve.say(Join(name="<", face="🙂"))
        assert isinstance(await eve.hear(), Refused)
        await eve.say(Join(name="Eve", face="🙂"))
        assert isinstance(await eve.hear(), Welcome)


@pytest.mark.parametrize(
    "message", [Start(), DoTurn(game=0, nth=1), DoSlap(game=0, nth=0), Rename(name="Eve", face="🙂"), Lock(True)]
)
async def test_nothing_is_done_before_a_join(server: Served, message: Message) -> None:
    """P5."""
    async with company(server.url, "Ann") as (ann,), undisturbed(ann), raw(server.url, ann.table.code) as eve:
        await eve.say(message)
        assert await eve.hear() == Refused(of=_tag(message), reason=RejectReason.JOIN_FIRST)
        await eve.say(Sync(sent_us=5))
        answer = await eve.hear()
        assert isinstance(answer, Synced)
        assert answer.sent_us == 5


async def test_a_second_join(server: Served) -> None:
    async with company(server.url, "Ann", "Ben") as (ann, ben), undisturbed(ann):
        assert (await refusal(ben, Join(name="Eve", face="🙂"))).reason == RejectReason.ALREADY_JOINED


@pytest.mark.parametrize("origin", ["http://evil.example", "https://127.0.0.1", "null"])
async def test_a_page_of_another_origin(server: Served, origin: str) -> None:
    """P12."""
    async with company(server.url, "Ann") as (ann,), undisturbed(ann):
        async with raw(server.url, ann.table.code, origin=origin) as eve:
            assert (await eve.hear_out())[0] == CloseCode.FOREIGN_ORIGIN
    assert ForeignOrigin.code == CloseCode.FOREIGN_ORIGIN


async def test_the_own_page_is_let_in(server: Served) -> None:
    """P12."""
    async with company(server.url, "Ann") as (ann,), raw(server.url, ann.table.code, origin=server.url) as page:
        await page.say(Join(name="Ben", face="🙂"))
        assert isinstance(await page.hear(), Welcome)


def test_a_page_of_another_origin_makes_no_table(server: Served) -> None:
    request = urllib.request.Request(
        f"{server.url}/api/tables", method="POST", data=b"", headers={"Origin": "http://evil.example"}
    )
    with pytest.raises(urllib.error.HTTPError) as answer:
        urllib.request.urlopen(request, timeout=10)
    with answer.value:
        assert answer.value.code == 403


# --- frames ------------------------------------------------------------------------------------------------------


def packed(fields: object) -> bytes:
    return bytes(msgpack.packb(fields))


BAD_FRAMES: dict[str, bytes | str] = {
    "empty": b"",
    "no msgpack": b"\xc1\xc1\xc1",
    "a cut off message": write(Lock(True))[:-1],
    "more than a message": write(Lock(True)) + b"\x00",
    "JSON": b'{"t":"lock","on":true}',
    "a text frame": '{"t":"lock","on":true}',
    "a number": packed(7),
    "a list": packed(["lock", True]),
    "no kind": packed({"on": True}),
    "an unknown kind": packed({"t": "fold"}),
    "a kind that is a list": packed({"t": ["lock"]}),
    "a kind that only the server says": packed({"t": "synced", "sent_us": 1, "room_us": 2}),
    "a missing field": packed({"t": "lock"}),
    "an extra field": packed({"t": "lock", "on": True, "off": False}),
    "a mistyped field": packed({"t": "lock", "on": "yes"}),
    "a number for a truth": packed({"t": "lock", "on": 1}),
    "a truth for a number": packed({"t": "slap", "game": True, "nth": 1}),
    "a float for a number": packed({"t": "slap", "game": 1.0, "nth": 1}),
    "a number below its range": packed({"t": "slap", "game": 1, "nth": -1}),
    "a number beyond its range": packed({"t": "slap", "game": 1, "nth": 2**64 - 1}),
    "no number": packed({"t": "slap", "game": 1, "nth": float("nan")}),
    "an unknown side": packed({"t": "slap", "game": 1, "nth": 1, "side": "foot"}),
    "an unknown emoji": packed({"t": "react", "emoji": "hello"}),
    "an unknown switch": packed({"t": "set_rules", "rules": {"jokers": True}}),
    "a switch out of range": packed({"t": "set_rules", "rules": {"min_show_ms": 0}}),
    "deep nesting": b"\x91" * 2_000,
    "a long list": packed({"t": "lock", "on": [0] * 1_000}),
    "bytes": packed({"t": b"lock", "on": True}),
}


@pytest.mark.parametrize("joined", [False, True], ids=["stranger", "player"])
@pytest.mark.parametrize("frame", BAD_FRAMES.values(), ids=BAD_FRAMES.keys())
async def test_a_frame_that_is_no_message(server: Served, frame: bytes | str, joined: bool) -> None:
    """P2: closed with 4400 and a reason. Of a player the table sees that the phone is gone, and nothing else."""
    async with company(server.url, "Ann") as (ann,):
        async with raw(server.url, ann.table.code, join="Eve" if joined else "") as eve:
            await ann.until(lambda p: len(p.table.seats) == 1 + joined)
            before = ann.table
            await eve.say(frame)
            code, reason = await eve.hear_out()
        assert code == CloseCode.MALFORMED
        assert reason
        if joined:
            await ann.until(lambda p: p.table.seats[1].away)
        await caught_up(ann)
        assert ann.online
        assert [seat.name for seat in ann.table.seats] == [seat.name for seat in before.seats]
        assert (ann.table.rules, ann.table.locked, ann.table.stage) == (before.rules, False, Stage.LOBBY)


@pytest.mark.parametrize("frame", [b"\xc4" * (MAX_FRAME_BYTES + 1), b"\x00" * 200_000, "x" * (MAX_FRAME_BYTES + 1)])
async def test_an_overlong_frame(server: Served, frame: bytes | str) -> None:
    """P1."""
    async with company(server.url, "Ann") as (ann,), undisturbed(ann), raw(server.url, ann.table.code) as eve:
        await eve.say(frame)
        assert (await eve.hear_out())[0] == TOO_BIG


async def test_the_client_is_told_what_was_wrong(server: Served) -> None:
    async with company(server.url, "Ann", "Ben") as (_, ben):
        ben.say(Rename(name="", face="🙂"))
        with pytest.raises(BadFrame, match="rename: Expected `str` of length >= 1"):
            await ben.until(lambda p: False)


# --- moves -------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def playing(server: Served) -> AsyncIterator[tuple[Player, Player]]:
    """A game of two in which it is Ben's turn and nothing lies on the pile."""
    async with company(server.url, "Ann", "Ben") as (ann, ben):
        ann.say(SetRules(Rules(min_show_ms=300)))
        ann.start()
        for player in (ann, ben):
            await player.until(lambda p: p.view is not None)
        assert ben.my_turn
        yield ann, ben


def named(value: object) -> str:
    """The same name for a parameter in every process that collects the tests."""
    return getattr(value, "__name__", str(value))


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (Player.turn, Reason.NOT_YOUR_TURN),
        (DoTurn(game=1, nth=1), Reason.NOT_YOUR_TURN),
        (DoTurn(game=1, nth=2), Reason.OTHER_TURN),
        (DoTurn(game=0, nth=1), RejectReason.OTHER_GAME),
        (DoTurn(game=7, nth=1), RejectReason.OTHER_GAME),
        (Player.slap, Reason.NOTHING_TO_SLAP),
        (DoSlap(game=1, nth=0), Reason.NOTHING_TO_SLAP),
        (DoSlap(game=1, nth=1), Reason.NO_SUCH_CARD),
        (DoSlap(game=1, nth=2**31), Reason.NO_SUCH_CARD),
        (DoSlap(game=2, nth=0), RejectReason.OTHER_GAME),
        (DoCall(game=1, nth=1), Reason.NOTHING_TO_SLAP),
        (DoCarryOn(game=1, nth=1), Reason.NOTHING_TO_ANSWER),
        (Point(question=1, seat=Seat(0)), RejectReason.NO_QUESTION),
        (Start(), RejectReason.ALREADY_PLAYING),
        (SetRules(Rules()), RejectReason.ALREADY_PLAYING),
        (Remove(SeatId("nobody")), RejectReason.NO_SUCH_SEAT),
    ],
    ids=named,
)
async def test_a_move_that_does_not_stand(
    server: Served, act: Message | Callable[[Player], None], reason: Reason | RejectReason
) -> None:
    """P3, R3, R7d, R7f: refused, and neither the offender's game nor anybody else's has changed."""
    async with playing(server) as (ann, ben), undisturbed(ben), undisturbed(ann):
        answer = await refusal(ann, act if isinstance(act, Message) else lambda: act(ann))
        assert answer.reason == reason


async def test_a_double_tap_pays_once(server: Served) -> None:
    """R7, R7c."""
    async with playing(server) as (ann, ben):
        ben.turn()
        await ann.until(lambda p: p.top)
        ann.slap()
        await ann.until(lambda p: p.view is not None and p.view.seats[0].cards == 25)
        async with undisturbed(ben), undisturbed(ann):
            assert (await refusal(ann, ann.slap)).reason == Reason.ALREADY_PAID


@pytest.mark.parametrize("act", [Player.turn, Player.slap, Pause(True)], ids=named)
async def test_no_move_without_a_game(server: Served, act: Message | Callable[[Player], None]) -> None:
    async with company(server.url, "Ann", "Ben") as (ann, ben), undisturbed(ben), undisturbed(ann):
        answer = await refusal(ann, act if isinstance(act, Message) else lambda: act(ann))
        assert answer.reason == RejectReason.NOT_PLAYING


async def test_a_game_of_one_does_not_start(server: Served) -> None:
    """R1."""
    async with company(server.url, "Ann") as (ann,), undisturbed(ann):
        answer = await refusal(ann, Start())
        assert answer.reason == RejectReason.TOO_FEW
        assert answer.detail.startswith("R1")


async def test_switches_that_exclude_each_other(server: Served) -> None:
    """R14."""
    async with company(server.url, "Ann") as (ann,), undisturbed(ann):
        answer = await refusal(ann, SetRules(Rules(wrong_call=True)))
        assert answer.reason == RejectReason.BAD_RULES
        assert answer.detail.startswith("R14")


# --- too much, too late ------------------------------------------------------------------------------------------


async def test_a_flood(server: Served) -> None:
    """P11: the flooder alone is cut."""
    async with company(server.url, "Ann", "Ben") as (ann, ben), undisturbed(ann):
        async with raw(server.url, ann.table.code) as eve:
            await eve.say(*[Sync(sent_us=nth) for nth in range(200)])
            assert (await eve.hear_out())[0] == CloseCode.TOO_MANY
        assert ben.online


async def test_a_player_who_floods_is_told(server: Served) -> None:
    async with company(server.url, "Ann", "Ben") as (ann, ben):
        for _ in range(200):
            ben.say(Sync(sent_us=1))
        with pytest.raises(TooMany):
            await ben.until(lambda p: False)
        await ann.until(lambda p: p.table.seats[1].away)


async def test_a_socket_that_never_says_who_it_is(tmp_path: Path) -> None:
    """P5."""
    with served(tmp_path, SLAPJACK_JOIN_TIMEOUT_S="1") as server:
        async with company(server.url, "Ann") as (ann,), undisturbed(ann), raw(server.url, ann.table.code) as eve:
            await eve.say(Sync(sent_us=1))
            assert (await eve.hear_out())[0] == CloseCode.JOIN_TIMEOUT


async def test_guessing_codes_ends_soon(tmp_path: Path) -> None:
    """P11: even the right code is not found after too many wrong ones; who sits already is not disturbed."""
    with served(tmp_path, SLAPJACK_MISSES_PER_MINUTE="3") as server:
        async with company(server.url, "Ann") as (ann,), undisturbed(ann):
            for _ in range(3):
                with pytest.raises(NoSuchTable):
                    await connect(server.url, "222222", name="Eve").__aenter__()
            with pytest.raises(TooMany, match="wrong codes"):
                await connect(server.url, ann.table.code, name="Eve").__aenter__()


async def test_who_sits_at_a_table_comes_back_to_it_whoever_guesses_next_to_them(tmp_path: Path) -> None:
    """P11: a household's wrong codes keep out nobody who is known at the table."""
    with served(tmp_path, SLAPJACK_MISSES_PER_MINUTE="3") as server:
        async with company(server.url, "Ann", "Ben") as (ann, ben):
            await ben.close()
            for _ in range(3):
                with pytest.raises(NoSuchTable):
                    await connect(server.url, "222222", name="Eve").__aenter__()
            with pytest.raises(TooMany, match="wrong codes"):
                await connect(server.url, ann.table.code, name="Eve", key="of-somebody-else-altogether").__aenter__()
            async with connect(server.url, ann.table.code, name="Ben", key=ben.key) as again:
                assert again.seat == ben.seat
                await again.until(lambda p: not any(seat.away for seat in p.table.seats))


NO_REQUESTS = [b"", b"GET / HTTP/1.1\r\nX-Half: ", b"POST /api/tables HTTP/1.1\r\ncontent-length: 9\r\n\r\n{"]


async def test_a_request_that_never_comes_is_not_waited_for(tmp_path: Path) -> None:
    async def begins(url: str, begun: bytes, *, after: bytes) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(url).port)
        if after:
            writer.write(after)
            assert b"200" in await reader.readuntil(b"}")
        writer.write(begun)
        with suppress(ConnectionResetError):
            assert b"HTTP/1.1 200" not in await reader.read()
        writer.close()

    with served(tmp_path, SLAPJACK_JOIN_TIMEOUT_S="1") as server:
        whole = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        await asyncio.gather(
            *(begins(server.url, begun, after=after) for begun in NO_REQUESTS for after in (b"", whole))
        )


async def test_a_request_that_never_ends_is_not_read_to_its_end(server: Served) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", urlsplit(server.url).port)
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n")
    with suppress(ConnectionError):
        for nth in range(10_000):
            writer.write(b"X-%d: %b\r\n" % (nth, b"x" * 1_000))
            await writer.drain()
        pytest.fail("all of it was read")
    writer.close()


@pytest.mark.parametrize(
    "request_", [b"\x16\x03\x01\x02\x00\x01", b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n", b"BREW / HTTP/1.1\r\n\r\n"]
)
async def test_what_is_no_request_is_refused_and_fills_no_log(server: Served, request_: bytes) -> None:
    before = server.said()
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(server.url).port)
    writer.write(request_)
    assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
    writer.close()
    assert server.said() == before


async def test_too_many_connections_from_one_address(tmp_path: Path) -> None:
    with served(tmp_path, SLAPJACK_MAX_CONNECTIONS_PER_ADDRESS="3") as server:
        port = urlsplit(server.url).port
        asks = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"

        async def is_let_in() -> bool:
            with suppress(ConnectionResetError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                callers.append(writer)
                writer.write(asks)
                return bool(await reader.readline())
            return False

        callers: list[asyncio.StreamWriter] = []
        for _ in range(3):
            while not await is_let_in():  # whoever asked whether it serves may just be leaving
                pass
        assert not any([await is_let_in() for _ in range(3)])
        for writer in callers:
            writer.close()


async def test_opening_tables_ends_soon(tmp_path: Path) -> None:
    """P11."""
    with served(tmp_path, SLAPJACK_TABLES_PER_MINUTE="2") as server:
        assert len({await create_table(server.url) for _ in range(2)}) == 2
        with pytest.raises(TooMany):
            await create_table(server.url)


async def test_opening_tables_from_everywhere_ends_soon(tmp_path: Path) -> None:
    """P11: a minute's worth of them is there at once."""
    with served(tmp_path, SLAPJACK_TABLES_PER_S="1") as server:
        with pytest.raises(TooMany, match="too many tables"):
            await asyncio.gather(*(create_table(server.url) for _ in range(100)))


async def test_too_many_sockets_from_one_address(tmp_path: Path) -> None:
    """P11."""
    with served(tmp_path, SLAPJACK_MAX_CONNECTIONS_PER_ADDRESS="2") as server:
        async with company(server.url, "Ann", "Ben") as (ann, _), undisturbed(ann):
            with pytest.raises(TooMany):
                await connect(server.url, ann.table.code, name="Eve").__aenter__()


async def test_too_many_sockets_one_after_the_other(tmp_path: Path) -> None:
    """P11."""
    with served(tmp_path, SLAPJACK_REQUESTS_PER_S="1", SLAPJACK_REQUEST_BURST="5") as server:
        code = await create_table(server.url)
        closed = []
        for _ in range(8):
            async with raw(server.url, code) as eve:
                with suppress(websockets.ConnectionClosed):
                    await eve.say(b"")
                closed.append((await eve.hear_out())[0])
        assert closed[:4] == [CloseCode.MALFORMED] * 4
        assert CloseCode.TOO_MANY in closed


async def test_too_many_sockets_in_all(tmp_path: Path) -> None:
    """P11."""
    with served(tmp_path, SLAPJACK_MAX_CONNECTIONS="2") as server:
        async with company(server.url, "Ann", "Ben") as (ann, _), undisturbed(ann):
            with pytest.raises(ServerGone, match="full"):
                await connect(server.url, ann.table.code, name="Eve").__aenter__()


def _tag(message: Message) -> str:
    return str(message.__struct_config__.tag)
