"""The line to a Redis (7 or newer) or Valkey server: connections, time-outs, scripts, and what goes wrong with them.

The only page that knows the client library. Knows no key and nothing of what is kept.

What a thousand rooms ask in the same moment goes out together, for a journey of its own would cost each of them a tenth
of a millisecond of this process, and, where every write waits for the disk, a turn at the disk.
"""

import asyncio
import hashlib
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from importlib.resources import files
from typing import Any

from hiredis import pack_command
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.client import Pipeline as RedisPipeline
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    NoScriptError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)
from redis.maint_notifications import MaintNotificationsConfig

from server.base.store_address import without_secret
from server.store.port import BadRecord, Fenced, StoreDown

MAX_CONNECTIONS = 16
ANSWER_TIMEOUT_S = 2.0
CONNECT_TIMEOUT_S = 2.0
FREE_CONNECTION_TIMEOUT_S = 2.0
CLOCK_IS_SET_S = 1_767_225_600
"""The year 2026. A clock that says less is that of a computer without a battery, which has asked nobody yet."""
BATCHES = 2
"""So many batches may be under way; whoever asks meanwhile waits for the next."""
LARGEST_BATCH = 500
TICK_S = 0.001
SPARE_S = 0.02
"""Where rooms ask more often than once a tick their questions leave once a tick, together; after a lull at once."""

NOT_THE_MASTER = (ReadOnlyError, BusyLoadingError, ClusterDownError)
"""READONLY, LOADING, MASTERDOWN: this connection leads to a server that is not, or not yet, the one to ask. After a
fail-over a new connection to the same address reaches the new master."""

Command = Callable[[RedisPipeline], object]
"""Puts one command into a pipeline."""

Script = Callable[[Sequence[str] | Sequence[bytes], Sequence[bytes | str | int]], Awaitable[Any]]
"""Runs a script with these keys and arguments; raises as `Pipeline.answer` does, and what the script itself says."""


class Pipeline:
    """Connections to the server at `url` (`redis://`, `rediss://` or `unix://`), made when first used.

    `now_s` is the wall clock in whole seconds since 1970; without one it is the server's own. Raises `StoreDown` for an
    address with options that there are not.
    """

    def __init__(self, url: str, now_s: Callable[[], int] | None = None) -> None:
        self.where = without_secret(url)
        self._now_s = now_s
        try:
            self.redis = _connected(url, MAX_CONNECTIONS, ANSWER_TIMEOUT_S)
            self._batched = _connected(url, BATCHES, None)
        except (TypeError, ValueError) as wrong:  # what stands behind a ? in the address is the client library's
            raise StoreDown(f"the store at {self.where} cannot be asked: {wrong}") from None
        self.spare_s = 0
        """Added to how long anything is kept, so that it outlives the moment at which the store's clock is set."""
        self._free: list[AbstractConnection] = []
        self._scripts: list[bytes] = []
        self._next_s = 0.0
        self._waiting: deque[tuple[Command, asyncio.Future[Any]]] = deque()
        self._batches: set[asyncio.Task[None]] = set()

    def script(self, name: str) -> Script:
        """The script `name`.lua beside this page."""
        text = (files("server.store") / f"{name}.lua").read_bytes()
        sha = hashlib.sha1(text, usedforsecurity=False).hexdigest()
        if text not in self._scripts:
            self._scripts.append(text)

        async def run(keys: Sequence[str] | Sequence[bytes], arguments: Sequence[bytes | str | int]) -> Any:
            answer = await self.ask(lambda pipe: pipe.evalsha(sha, len(keys), *keys, *arguments), keys[0])
            match answer:
                case [b"FENCED", bytes() as stands]:
                    where = stands.decode()
                    raise Fenced(f"{_shown(keys[0])}: the journal stands at {where}", where)
                case [b"FOREIGN", bytes() as key, bytes() as wrong]:
                    raise BadRecord(f"{key.decode()}: {wrong.decode()}")
                case _:
                    return answer

        return run

    async def ask(self, command: Command, key: str | bytes) -> Any:
        """What the server answers to one command about `key`, which goes out with what others ask; raises as `answer`.

        Whoever stops waiting leaves nothing half-read. But the command may have been carried out, as with `StoreDown`.
        """
        return await self.answer(self._asked(command), key)

    async def ask_all(self, commands: Sequence[Command], key: str | bytes) -> list[Any]:
        """The same for several that do not depend on each other."""
        answers: list[Any] = await self.answer(asyncio.gather(*map(self._asked, commands)), key)
        return answers

    def _asked(self, command: Command) -> "asyncio.Future[Any]":
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((command, answer))
        if len(self._batches) < BATCHES:
            self._batches.add(asyncio.create_task(self._send_batches()))
        return answer

    async def _send_batches(self) -> None:
        try:
            await self._send_waiting()
        finally:
            # Not a moment later: whoever asks then would wait for a batch that is no more.
            self._batches -= {asyncio.current_task()}

    async def _send_waiting(self) -> None:
        while self._waiting:
            batch: list[tuple[Command, asyncio.Future[Any]]] = []
            try:
                await self._tick()
                asked = [self._waiting.popleft() for _ in range(min(len(self._waiting), LARGEST_BATCH))]
                batch = [(command, answer) for command, answer in asked if not answer.done()]
                told = await self._sent([command for command, _ in batch])
            except BaseException as wrong:
                # Whoever waits for the next would only meet the same, each after a time-out.
                batch += self._waiting
                self._waiting.clear()
                for _, answer in batch:
                    if not answer.done():
                        answer.set_exception(
                            wrong if isinstance(wrong, Exception) else RedisError("the line is closed")
                        )
                if not isinstance(wrong, Exception):
                    raise
                continue
            for (_, answer), found in zip(batch, told, strict=True):
                if answer.done():
                    continue
                if isinstance(found, Exception):
                    answer.set_exception(found)
                else:
                    answer.set_result(found)

    async def _tick(self) -> None:
        now_s = asyncio.get_running_loop().time()
        at_s = max(self._next_s, now_s - SPARE_S)
        self._next_s = at_s + TICK_S
        if at_s > now_s:
            await asyncio.sleep(at_s - now_s)

    async def _sent(self, commands: Sequence[Command]) -> list[Any]:
        """What the server answers to each, exceptions among it."""
        if not commands:
            return []
        told = await self._told(commands)
        unknown = [nth for nth, found in enumerate(told) if isinstance(found, NoScriptError)]
        if unknown:
            load: list[Command] = [lambda pipe, text=text: pipe.script_load(text) for text in self._scripts]  # type: ignore[misc]
            again = await self._told([*load, *(commands[nth] for nth in unknown)])
            for nth, found in zip(unknown, again[len(load) :], strict=True):
                told[nth] = found
        return told

    async def _told(self, commands: Sequence[Command]) -> list[Any]:
        """The same, of scripts that the server may not know.

        Not by the client's own `execute`, which takes and gives back a connection, packs in Python and sets a timer for
        every answer: with all that a change that is kept costs twice the processor time.
        """
        pipe = self._batched.pipeline(transaction=False)
        for command in commands:
            command(pipe)
        packed = b"".join(_packed(*arguments) for arguments, _ in pipe.command_stack)
        pool = self._batched.connection_pool
        connection = self._free.pop() if self._free else pool.make_connection()  # type: ignore[no-untyped-call]
        told: list[Any] = []
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                await pool.ensure_connection(connection)
                await connection.send_packed_command(packed)
                for arguments, options in pipe.command_stack:
                    try:
                        found = await connection.read_response()
                    except ResponseError as wrong:
                        found = wrong
                    else:
                        if (read := self._batched.response_callbacks.get(arguments[0])) is not None:
                            # The keys are for the client's own cache.
                            found = read(found, **{name: each for name, each in options.items() if name != "keys"})
                    told.append(found)
            if any(isinstance(found, NOT_THE_MASTER) for found in told):
                await connection.disconnect(nowait=True)
        except BaseException:
            await connection.disconnect(nowait=True)
            raise
        finally:
            self._free.append(connection)
        return told

    async def answer(self, answer: Awaitable[Any], key: str | bytes) -> Any:
        """What the server answers about `key`; raises `StoreDown`, and `BadRecord` for a value of another type."""
        try:
            return await answer
        except NOT_THE_MASTER as wrong:
            await self.redis.connection_pool.disconnect(inuse_connections=False)
            raise StoreDown(f"the store at {self.where} refuses: {wrong}", refused=str(wrong)) from wrong
        except ResponseError as wrong:
            if "WRONGTYPE" in str(wrong):
                raise BadRecord(f"{_shown(key)}: not ours: {wrong}") from None
            raise StoreDown(f"the store at {self.where} refuses: {wrong}", refused=str(wrong)) from wrong
        except AuthenticationError as wrong:
            said = "it wants a password" if "HELLO" in str(wrong) else str(wrong)
            raise StoreDown(f"the store at {self.where} does not let us in: {said}") from wrong
        except (RedisError, OSError) as wrong:
            told = str(wrong) or type(wrong).__name__
            raise StoreDown(f"the store at {self.where} does not answer: {told}") from wrong

    async def mind_the_clock(self) -> bool:
        """Looks whether the store's clock has been set, and has everything kept for longer while it has not."""
        self.spare_s = max(0, CLOCK_IS_SET_S - await self.now_s())
        return not self.spare_s

    async def now_s(self) -> int:
        """The wall clock, in whole seconds since 1970."""
        if self._now_s is not None:
            return self._now_s()
        seconds, _ = await self.ask(lambda pipe: pipe.time(), "TIME")
        return int(seconds)

    async def ping(self) -> None:
        """Returns when the server answers."""
        await self.ask(lambda pipe: pipe.ping(), "PING")

    async def close(self) -> None:
        """Lets go of the connections."""
        for batches in self._batches:
            batches.cancel()
        await asyncio.gather(*self._batches, return_exceptions=True)
        for connection in self._free:
            await connection.disconnect()
        await self.redis.aclose()


def _connected(url: str, connections: int, answer_timeout_s: float | None) -> "Redis":
    # redis-py would repeat a write that timed out, so that it counts twice: here an unanswered write is an error.
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=connections,
        timeout=FREE_CONNECTION_TIMEOUT_S,
        socket_timeout=answer_timeout_s,
        socket_connect_timeout=CONNECT_TIMEOUT_S,
        retry=Retry(NoBackoff(), 0),
        retry_on_error=[],
        # While it listens for these it hands out connections that the server has closed.
        maint_notifications_config=MaintNotificationsConfig(enabled=False),
    )
    pool.make_connection()  # type: ignore[no-untyped-call]  # opens nothing yet, and refuses what it does not know
    return Redis.from_pool(pool)


def _packed(name: Any, *arguments: Any) -> bytes:
    """A command for the wire; its name may be two words."""
    packed: bytes = pack_command((*name.split(), *arguments))
    return packed


def _shown(key: str | bytes) -> str:
    return key if isinstance(key, str) else key.decode(errors="replace")
