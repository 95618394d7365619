"""Serves until it is told to stop: the clock, the random source, the store, the port, and the application over them.

Builds what is real, the clock and the random source, which everything else is handed. Must not depend on tables.
"""

import asyncio
import contextlib
import errno
import gc
import io
import itertools
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Coroutine, Generator
from functools import partial

import segno
import uvicorn

from engine.cards import ENTROPY_BYTES, Entropy
from server.base.logs import log_for_machines
from server.base.ports import Clock, RandomSource
from server.base.settings import Settings
from server.hosting.cluster import Nameless, Node
from server.hosting.host import Host
from server.net.accepted import Sockets
from server.net.link import link_protocol
from server.net.listener import Listener
from server.net.requests import RequestProtocol
from server.store.embedded import EmbeddedStore, NoStore
from server.store.port import BadRecord, StoreDown
from server.store.probe import how_it_keeps, probe
from server.store.redis import RedisStore
from server.web.app import build_app
from server.web.lan import near_names, why_not_near
from wire.messages import MAX_FRAME_BYTES

BACKLOG = 2048
SEND_BUFFER_BYTES = 64 * 1024
"""Small, so that what a phone does not take waits in our own outbox, where it is counted."""

UNACKNOWLEDGED_TIMEOUT_MS = 15_000
"""A phone that acknowledges nothing for this long is cut off by the kernel."""

RESERVED_FILES = 256
"""Descriptors that no connection gets: for the store, the log, and whatever else the server must open meanwhile."""

STOP_TIMEOUT_S = 2
NAME_TIMEOUT_S = 4.0
"""A server that was killed has its name for as long as its lease lasts, which is less."""

NAME_AGAIN_S = 0.25
SWEEP_EVERY_S = MIND_EVERY_S = 60
COLLECT_EVERY_S = 0.05
MIDDLE, OLD = 3, 72_000
"""Garbage is looked for at a steady beat: among the youngest objects, every so many beats among the next, and once an
hour among all of them."""

DRAWS = 64

log = logging.getLogger("slapjack")


class CannotStart(Exception):
    """The server cannot start; the text says why in one line."""


class RealClock(Clock):
    """The machine's monotonic clock.

    It stands while the machine sleeps, so that a game goes on where it was when somebody closed the lid. With
    `through_sleep` it goes on, as among servers it must: their leases end meanwhile.
    """

    def __init__(self, *, through_sleep: bool = False) -> None:
        # On Linux, and the other way round on macOS, whose CLOCK_MONOTONIC goes on while Python's own stands.
        name = "CLOCK_BOOTTIME" if sys.platform == "linux" else "CLOCK_MONOTONIC"
        known = through_sleep and hasattr(time, name)
        self._now_ns = partial(time.clock_gettime_ns, getattr(time, name)) if known else time.monotonic_ns

    def now_us(self) -> int:
        """Whole microseconds since some fixed moment."""
        return self._now_ns() // 1000

    def worked_us(self) -> int:
        """Whole microseconds of a processor that this process has used so far."""
        return time.process_time_ns() // 1000


class RealRandomSource(RandomSource):
    """The operating system's random bytes, fetched many at a time: a system call for each is 3 % of a busy server."""

    def __init__(self) -> None:
        self._fetched: list[bytes] = []

    def draw(self) -> Entropy:
        """32 bytes that nobody can foresee."""
        if not self._fetched:
            many = os.urandom(DRAWS * ENTROPY_BYTES)
            self._fetched = [many[at : at + ENTROPY_BYTES] for at in range(0, len(many), ENTROPY_BYTES)]
        return Entropy(self._fetched.pop())


class Server(uvicorn.Server):
    """uvicorn, but connections and signals are ours, and `started` is called once connections are taken.

    The first signal has `drain` done before anything is closed, a second one ends it where it stands.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        sockets: Sockets,
        started: Callable[[], None],
        drain: Callable[[], Coroutine[None, None, None]],
    ) -> None:
        super().__init__(config)
        self._sockets = sockets
        self._tell_started = started
        self._drain = drain
        self._stopping: asyncio.Task[None] | None = None

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        # uvicorn's own raises the signal again in the end, which would kill the process before the store is stopped.
        loop = asyncio.get_running_loop()
        for each in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(each, self._stop)
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup([])
        self._listener = Listener(sockets or [], self._sockets, _most_open(), self._parser)
        gc.collect()
        gc.freeze()
        gc.disable()  # `_collect` does it
        self._tell_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._listener.close()
        await super().shutdown(sockets)

    def _parser(self) -> RequestProtocol:
        return RequestProtocol(self.config, self.server_state, self.lifespan.state)

    def _stop(self) -> None:
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._stop_in_peace())
        else:
            self.force_exit = self.should_exit = True

    async def _stop_in_peace(self) -> None:
        try:
            await self._drain()
        except Exception:
            log.exception("the tables could not be handed over")
        finally:
            self.should_exit = True


def serve(settings: Settings, clock: Clock, random_source: RandomSource) -> None:
    """Serves until SIGINT or SIGTERM; raises `CannotStart`."""
    if settings.log == "json":
        log_for_machines(settings.node)
    _allow_open_files(2 * settings.max_connections)  # as many again may be asking for a page
    sockets = listen(settings.port, settings.host)
    try:
        with contextlib.ExitStack() as stack:
            url = settings.redis_url
            if not url:
                store = EmbeddedStore(settings.data, fsync=settings.fsync)
                stack.callback(store.stop)
                url = store.url
            runner = stack.enter_context(asyncio.Runner(loop_factory=_loop_factory()))
            runner.run(_serve(settings, clock, random_source, url, sockets))
    except NoStore as wrong:
        raise CannotStart(str(wrong)) from None
    finally:
        for each in sockets:
            each.close()


def open_store(settings: Settings, url: str) -> RedisStore:
    """The store at that address, for as long as these settings keep things."""
    return RedisStore(
        url,
        keep_days=settings.keep_days,
        keep_journal_days=settings.keep_journal_days,
        rank_programs=settings.rank_programs == "yes",
    )


async def _serve(
    settings: Settings, clock: Clock, random_source: RandomSource, url: str, sockets: list[socket.socket]
) -> None:
    async with open_store(settings, url) as store:
        try:
            await probe(store.pipeline)
            if not await store.pipeline.mind_the_clock():
                log.warning("the clock has not been set: tables and scores are kept for longer until it has")
            if settings.redis_url:
                for trouble in (await how_it_keeps(store.pipeline)).troubles:
                    log.warning("%s: %s", store.pipeline.where, trouble)
        except StoreDown as wrong:
            raise CannotStart(str(wrong)) from None
        node = Node(settings.node, store.nodes, clock, random_source) if settings.node else None
        app = build_app(store, clock, random_source, settings, node)
        host: Host = app.state.host
        config = uvicorn.Config(
            app,
            http=RequestProtocol,
            ws=link_protocol(clock, random_source, settings.outbox_bytes),
            ws_max_size=MAX_FRAME_BYTES,
            ws_per_message_deflate=False,
            ws_ping_interval=None,  # rooms ask their phones more often than that
            lifespan="on",
            log_config=None,
            log_level="error",  # its warnings are all about what strangers send
            access_log=False,
            server_header=False,
            proxy_headers=bool(settings.trusted_proxies),
            forwarded_allow_ips=list(map(str, settings.trusted_proxies)),
            timeout_graceful_shutdown=STOP_TIMEOUT_S,
        )
        port = sockets[0].getsockname()[1]
        if node is not None:
            await _take_name(node)
        background = host.background
        background.keep_running("putting the leaderboard in order", partial(_sweep, store))
        background.keep_running("collecting garbage", _collect)
        background.keep_running("minding the clock", partial(_mind_the_clock, store))
        if node is not None:
            background.keep_running("renewing the lease", partial(node.stay, host.forget, host.fall_silent))
        elif settings.redis_url:
            host.fences.nameless = nameless = Nameless(store.nodes, random_source)
            background.keep_running("looking for another server", nameless.stay)
        started = partial(print, welcome(settings, port), flush=True)
        try:
            await Server(config, app.state.sockets, started, host.drain).serve(sockets)
        finally:
            await background.finish()
            if (leaves := node or host.fences.nameless) is not None:
                with contextlib.suppress(StoreDown, BadRecord):  # then the lease ends by itself
                    await leaves.leave()


async def _take_name(node: Node) -> None:
    """Takes the lease, from a server of this name that has just been killed as well; raises `CannotStart`."""
    deadline_s = time.monotonic() + NAME_TIMEOUT_S
    try:
        while not await node.take():
            if time.monotonic() > deadline_s:
                name = node.lease.node
                raise CannotStart(f"another server is called {name}: give each its own name with SLAPJACK_NODE")
            await asyncio.sleep(NAME_AGAIN_S)
    except (StoreDown, BadRecord) as wrong:
        raise CannotStart(str(wrong)) from None


async def _mind_the_clock(store: RedisStore) -> None:
    """Sees when a clock that stood in 1970 has been set."""
    while True:
        await asyncio.sleep(MIND_EVERY_S)
        with contextlib.suppress(StoreDown):
            await store.pipeline.mind_the_clock()


async def _collect() -> None:
    """Looks for garbage a little at a time.

    Left to itself Python looks when there are so many more objects than the last time. At tables in play others take
    their place as fast, so it comes late and stops them all for a hundredth of a second, and with 2,000 phones for a
    tenth when it looks everywhere. Whoever leaves lets go of what is theirs without it.
    """
    for beat in itertools.count(1):
        await asyncio.sleep(COLLECT_EVERY_S)
        gc.collect(0 if beat % MIDDLE else 1 if beat % OLD else 2)


async def _sweep(store: RedisStore) -> None:
    """Counts what a crash has left uncounted, at once and then again and again."""
    while True:
        try:
            await store.board.sweep()
        except (StoreDown, BadRecord) as wrong:
            log.warning("the leaderboard cannot be put in order: %s", wrong)
        await asyncio.sleep(SWEEP_EVERY_S)


def listen(port: int, host: str = "") -> list[socket.socket]:
    """Sockets that listen on `port` of every interface, IPv4 first, or of the address `host` alone.

    Port 0 takes a free one. Raises `CannotStart`.
    """
    if host:
        try:
            return [_listening(socket.AF_INET6 if ":" in host else socket.AF_INET, host, port)]
        except OSError as wrong:
            raise CannotStart(_cannot_open(port, wrong, host)) from None
    try:
        sockets = [_listening(socket.AF_INET, "0.0.0.0", port)]
    except OSError as wrong:
        raise CannotStart(_cannot_open(port, wrong)) from None
    try:
        sockets.append(_listening(socket.AF_INET6, "::", sockets[0].getsockname()[1]))
    except OSError as wrong:
        # There are machines without IPv6. But a browser tries it first, and must not meet somebody else there.
        if wrong.errno == errno.EADDRINUSE and port:
            sockets[0].close()
            raise CannotStart(_cannot_open(port, wrong)) from None
    return sockets


def _listening(family: socket.AddressFamily, interfaces: str, port: int) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Accepted connections inherit these.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        if sys.platform == "linux":
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED_TIMEOUT_MS)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((interfaces, port))
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def _cannot_open(port: int, wrong: OSError, host: str = "") -> str:
    if wrong.errno == errno.EADDRNOTAVAIL:
        return f"SLAPJACK_HOST is {host}, which is no address of this machine"
    if wrong.errno == errno.EADDRINUSE:
        return f"port {port} is taken: stop what uses it, or choose another with SLAPJACK_PORT"
    return f"cannot open port {port}: {wrong.strerror}; choose another with SLAPJACK_PORT"


def welcome(settings: Settings, port: int) -> str:
    """What is said on the terminal once the server serves: where it is, and a code to point a phone at."""
    own = f"[{settings.host}]" if ":" in settings.host else settings.host or "localhost"
    lines = ["", "Slapjack is on the table.", "", f"  this computer      http://{own}:{port}"]
    invite = settings.public_url
    if invite:
        lines.append(f"  everywhere         {invite}")
    else:
        near = near_names(port, settings.host)
        invite = near[0] if near else ""
        lines += [f"  {'or' if nth else 'phones near you':18} {origin}" for nth, origin in enumerate(near)]
        if trouble := why_not_near():
            lines += ["", f"  Should no phone get through: {trouble}."]
    if invite:
        lines += ["", qr_code(invite)]
    return "\n".join([*lines, "", "Ctrl-C stops the server; tables and scores are kept.", ""])


def qr_code(address: str) -> str:
    """The address as a QR code of half blocks; empty where the terminal cannot show them."""
    drawn = io.StringIO()
    segno.make(address, error="m", micro=False).terminal(drawn, compact=True, border=2)
    lines = drawn.getvalue().splitlines()
    try:
        lines[0].encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return ""
    # Half blocks are light on a dark terminal; saying so in colour makes it true on a light one as well.
    paint, end = ("\x1b[97;40m", "\x1b[0m") if sys.stdout.isatty() else ("", "")
    return "\n".join(f"  {paint}{line}{end}" for line in lines)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _allow_open_files(connections: int) -> None:
    import resource  # not on Windows; systems start with 256 or 1024, meant for programs that wait with select(2)

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + RESERVED_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))


def _most_open() -> int:
    """How many connections there are descriptors for, beside the reserve."""
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else max(soft - RESERVED_FILES, soft // 2)
