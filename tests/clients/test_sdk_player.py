"""The shell around a session, over real sockets against a table whose answers the test writes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
import websockets
from websockets.frames import Frame, Opcode

from clients.sdk import (
    JoinRefused,
    Lost,
    NoSuchTable,
    NotAtTable,
    NotNow,
    Removed,
    Resumed,
    ServerGone,
    TooMany,
    connect,
    create_table,
)
from tests.clients.scripted import Table, at
from tests.support.tables import a_game, a_table, turned
from wire.codec import write
from wire.messages import CloseCode, DoSlap, DoTurn, Join, Quit, Refused, SeatId, Shown, Update, Welcome


async def test_a_player_sees_turns_slaps_and_quits() -> None:
    async def script(table: Table) -> None:
        await table.welcome()
        await table.hear(DoTurn)
        await table.tell(events=(turned(1, "JS"),), view=a_game(["JS"]))
        await table.hear(Shown)
        await table.hear(DoSlap)
        await table.say(Refused(of="slap", reason="paused"))
        await table.hear(Quit)

    table = Table(script)
    async with at(table) as url, connect(url, " k7w q2m ", name="Robin") as player:
        assert table.paths == ["/ws/K7WQ2M"]
        assert (player.key, player.seat, player.online, player.my_turn) == ("secret", "s0", True, True)
        player.turn()
        await player.until(lambda p: p.top)
        player.slap()
        told = [await anext(player) for _ in range(3)]
        assert [type(event) for event in told] == [Update, Update, Refused]
        player.quit()
        assert [event async for event in player] == []
        await table.hung_up.wait()
    turn, slap = (m for m in table.heard if isinstance(m, DoTurn | DoSlap))
    assert turn == DoTurn(game=1, nth=1)
    assert isinstance(slap, DoSlap)
    assert slap.nth == 1
    assert slap.reaction_us is not None
    assert slap.reaction_us >= 0


async def wait_for_the_end(table: Table) -> None:
    """What a table does to which somebody has come back."""
    await table.welcome()
    await table.hear_out()


async def test_a_broken_socket_leads_back_to_the_seat() -> None:
    async def break_off(table: Table) -> None:
        await table.welcome()
        table.break_off()

    table = Table(break_off, wait_for_the_end)
    async with at(table) as url, connect(url, "K7WQ2M", name="Robin", entropy=lambda: 0.0) as player:
        told = [type(await anext(player)) for _ in range(4)]
    assert told == [Update, Lost, Resumed, Update]
    await table.hung_up.wait()
    assert [m.key for m in table.heard if isinstance(m, Join)] == ["", "secret"]


async def test_a_gap_leads_back_too() -> None:
    async def skip_one(table: Table) -> None:
        await table.welcome()
        await table.say(Update(n=7, show_at_us=0, view=a_game(["2S", "3S"])))
        await table.hear_out()

    table = Table(skip_one, wait_for_the_end)
    async with at(table) as url, connect(url, "K7WQ2M", name="Robin", entropy=lambda: 0.0) as player:
        told = [type(await anext(player)) for _ in range(4)]
    assert told == [Update, Lost, Resumed, Update]


async def test_leaving_the_block_hangs_up_and_says_no_farewell() -> None:
    async def script(table: Table) -> None:
        await table.welcome()
        await table.hear_out()

    table = Table(script)
    async with at(table) as url:
        async with connect(url, "K7WQ2M", name="Robin") as player:
            assert player.online
        await table.hung_up.wait()
    assert not any(isinstance(message, Quit) for message in table.heard)


async def test_who_has_quit_is_heard_before_the_block_hangs_up() -> None:
    async def script(table: Table) -> None:
        await table.welcome()
        await table.hear_out()

    table = Table(script)
    async with at(table) as url:
        async with connect(url, "K7WQ2M", name="Robin") as player:
            player.quit()
        await table.hung_up.wait()
    assert any(isinstance(message, Quit) for message in table.heard)


async def test_who_is_stopped_while_hanging_up_leaves_no_socket_behind() -> None:
    """At a server that never answers: nothing but the player itself ends the connection."""
    closing, hung_up = asyncio.Event(), asyncio.Event()

    async def say_nothing_more(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        table = websockets.ServerProtocol()
        table.receive_data(await reader.readuntil(b"\r\n\r\n"))
        (request,) = table.events_received()
        assert isinstance(request, websockets.Request)
        table.send_response(table.accept(request))
        table.send_binary(write(Welcome(code="K7WQ2M", key="secret", seat=SeatId("s0"), room_us=0)))
        table.send_binary(write(Update(n=1, show_at_us=0, table=a_table(), view=a_game())))
        writer.writelines(table.data_to_send())
        with suppress(ConnectionResetError):
            while piece := await reader.read(65536):
                table.receive_data(piece)
                if any(isinstance(event, Frame) and event.opcode is Opcode.CLOSE for event in table.events_received()):
                    closing.set()
        hung_up.set()
        writer.close()

    async def look_in(url: str) -> None:
        async with connect(url, "K7WQ2M", name="Robin"):
            pass

    async with await asyncio.start_server(say_nothing_more, "127.0.0.1", 0) as server:
        task = asyncio.create_task(look_in("http://{}:{}".format(*server.sockets[0].getsockname())))
        await closing.wait()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await hung_up.wait()


@pytest.mark.parametrize(("key", "farewell"), [(None, True), ("secret", False)])
async def test_who_is_stopped_while_joining_leaves_no_seat_behind(key: str | None, farewell: bool) -> None:
    """Whoever came with a key has the way back; a newcomer would never learn theirs."""
    joining, stopped = asyncio.Event(), asyncio.Event()

    async def script(table: Table) -> None:
        await table.hear(Join)
        joining.set()
        await stopped.wait()
        await table.say(Welcome(code="K7WQ2M", key="secret", seat=SeatId("s0"), room_us=0))
        await table.hear_out()

    async def join(url: str) -> None:
        async with connect(url, "K7WQ2M", name="Robin", key=key):
            pytest.fail("nobody got in")

    table = Table(script)
    async with at(table) as url:
        task = asyncio.create_task(join(url))
        await joining.wait()
        task.cancel()
        stopped.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        await table.hung_up.wait()
    assert any(isinstance(message, Quit) for message in table.heard) == farewell


async def test_a_client_that_draws_says_itself_when_it_has() -> None:
    async def script(table: Table) -> None:
        await table.welcome()
        await table.tell(events=(turned(1, "JS"),), view=a_game(["JS"]))
        unpainted = await table.hear(DoSlap)
        await table.hear(Shown)
        painted = await table.hear(DoSlap)
        assert unpainted.reaction_us is None
        assert painted.reaction_us is not None
        await table.tell(table=a_table(watching=1))
        await table.hear_out()

    table = Table(script)
    async with at(table) as url, connect(url, "K7WQ2M", name="Robin", draws=True) as player:
        await player.until(lambda p: p.top)
        player.slap()
        player.painted()
        player.slap()
        await player.until(lambda p: p.table.watching)


@pytest.mark.parametrize(
    ("answer", "error"),
    [(CloseCode.NO_SUCH_TABLE, NoSuchTable), (CloseCode.SERVER_FULL, NotNow), ("table_full", JoinRefused)],
)
async def test_not_getting_in_is_told_by_its_error(answer: CloseCode | str, error: type[NotAtTable]) -> None:
    async def script(table: Table) -> None:
        await table.hear(Join)
        if isinstance(answer, CloseCode):
            await table.close(answer, "in words")
        else:
            await table.say(Refused(of="join", reason=answer, detail="in words"))
            await table.hear_out()

    async with at(Table(script)) as url:
        with pytest.raises(error, match="in words"):
            async with connect(url, "K7WQ2M", name="Robin"):
                pytest.fail("nobody got in")


async def test_an_end_in_the_middle_is_told_to_all_who_wait() -> None:
    removing = asyncio.Event()

    async def script(table: Table) -> None:
        await table.welcome()
        await removing.wait()
        await table.close(CloseCode.REMOVED, "the host has removed you")

    async with at(Table(script)) as url, connect(url, "K7WQ2M", name="Robin") as player:
        assert isinstance(await anext(player), Update)
        waiting = asyncio.create_task(player.until(lambda p: p.top))
        removing.set()
        with pytest.raises(Removed, match="the host has removed you"):
            await anext(player)
        with pytest.raises(Removed):
            await waiting


async def test_no_server_is_told_at_once() -> None:
    async with websockets.serve(lambda socket: socket.close(), "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
    with pytest.raises(ServerGone, match=f"^127.0.0.1:{port}: Connection refused$"):
        async with connect(f"http://127.0.0.1:{port}", "K7WQ2M", name="Robin"):
            pytest.fail("nobody got in")
    with pytest.raises(ServerGone, match=f"^127.0.0.1:{port}: Connection refused$"):
        await create_table(f"http://127.0.0.1:{port}")


@asynccontextmanager
async def answering(answer: str) -> AsyncIterator[str]:
    """Where something listens that gives this answer to everything."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {answer}".encode())
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield "{}:{}".format(*server.sockets[0].getsockname())


@pytest.mark.parametrize(
    ("answer", "error", "line"),
    [
        ('429 Too Many Requests\r\n\r\n{"error": "too_many", "text": "in words"}', TooMany, "^in words$"),
        ('503 Service Unavailable\r\n\r\n{"error": "server_full", "text": "in words"}', NotNow, "^in words$"),
        ("404 Not Found\r\n\r\n<html>", ServerGone, ": it answers HTTP 404$"),
        ("200 OK\r\n\r\n<html>", ServerGone, ": it answers, but not as a table does$"),
    ],
)
async def test_why_there_is_no_new_table_is_said_in_words(answer: str, error: type[NotAtTable], line: str) -> None:
    """P14."""
    async with answering(answer) as where:
        with pytest.raises(error, match=line):
            await create_table(f"http://{where}")


async def test_another_servers_answer_is_said_in_words() -> None:
    async with answering("404 Not Found\r\n\r\n<html>") as where:
        with pytest.raises(ServerGone, match=f"^{where}: it answers HTTP 404$"):
            async with connect(f"http://{where}", "K7WQ2M", name="Robin"):
                pytest.fail("nobody got in")
