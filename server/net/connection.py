"""One socket's life: who may open it, what may come in, and to which room it leads.

The other place where asyncio lives. Decodes each frame once; knows nothing of what a message does.
"""

import asyncio
import ipaddress
import itertools
import logging
from functools import lru_cache

from starlette.requests import HTTPConnection
from starlette.websockets import WebSocket

from server.base import meters
from server.base.keys import hash_of
from server.base.logs import about
from server.base.ports import Clock
from server.base.settings import Settings
from server.hosting.awake import NetworkFull, ServerFull
from server.hosting.host import Host, ServerStops
from server.hosting.mailbox import Mailbox
from server.hosting.phone import SERVICE_RESTART, STOPS, STORE_AWAY
from server.net.guessing import Guesses
from server.net.http import TooManyMisses, key_of
from server.net.limits import AddressBuckets, Bucket, Count, client_network
from server.net.link import SCOPE_KEY, LinkProtocol
from server.net.origins import right_origin
from server.store.port import BadRecord, Elsewhere, Store, StoreDown
from server.table.mail import ConnId
from server.table.records import TableRecord
from wire.codec import Malformed, as_json, from_json, read_client_message
from wire.codes import read_code
from wire.frames import frame_of, payload_of
from wire.messages import JSON_SUBPROTOCOL, CloseCode, Join

log = logging.getLogger("slapjack.connection")

REFUSED_S = 120.0
"""So long somebody whose join was refused has to think of another name."""


class SocketEndpoint:
    """Lets sockets in: counts them, checks them, and leads each to its mailbox."""

    def __init__(self, host: Host, store: Store, clock: Clock, settings: Settings) -> None:
        self._host = host
        self._store = store
        self._clock = clock
        self._settings = settings
        self._ids = itertools.count(1)
        self._open = Count(settings.max_connections, settings.max_connections_per_address)
        self._dials = AddressBuckets(settings.requests_per_s, settings.request_burst)
        self._guesses = Guesses(settings.misses_per_minute, settings.misses_per_s)

    async def look_for(self, asking: HTTPConnection, code: str | None, address: str) -> TableRecord | None:
        """What is kept of the table of that code, without waking it; None where there is none, which is a miss.

        Raises `TooManyMisses` where too many were named from there, unless who asks is known at that table; `StoreDown`
        and `BadRecord`.
        """
        async with self._guesses.name(address, self._clock) as guess:
            if guess is None and not await self._is_known(asking, code):
                raise TooManyMisses
            table = await self._host.peek(code) if code is not None else None
            if guess is not None:
                guess.right = table is not None
        return table

    async def _is_known(self, asking: HTTPConnection, code: str | None) -> bool:
        """Whether who asks has sat at that table, by the secret they bring.

        For whoever has no business there it takes as long as for a code that leads nowhere, so that it tells nothing.
        """
        key = key_of(asking)
        if not key or code is None:
            return False
        person = await self._store.person_of(hash_of(key))
        table = await self._store.load_table(code)
        return table is not None and (person in table.scores or any(seat.key_hash == person for seat in table.seats))

    async def answer(self, socket: WebSocket) -> None:
        """Serves one socket until it is gone."""
        await socket.accept(JSON_SUBPROTOCOL if _speaks_json(socket) else None)
        link: LinkProtocol = socket.scope["extensions"][SCOPE_KEY]
        address = socket.client.host if socket.client is not None else ""
        origin, host = socket.headers.get("origin"), socket.headers.get("host")
        if not right_origin(origin, host, self._settings.public_url):
            link.hang_up(CloseCode.FOREIGN_ORIGIN, "this page belongs to another server")
        elif not self._dials.take(address, self._clock.now_us()):
            link.hang_up(CloseCode.TOO_MANY, "too many connections from one address")
        elif self._open.full():
            link.hang_up(CloseCode.SERVER_FULL, "this server is full")
        elif self._open.full_for(address):
            link.hang_up(CloseCode.TOO_MANY, "too many connections from one address")
        else:
            link.owner.count_in(self._open, address)
            await self._lead_in(socket, link, address)

    async def _lead_in(self, socket: WebSocket, link: LinkProtocol, address: str) -> None:
        mailbox = await self._find(socket, link, address)
        if mailbox is None:
            return
        json = _speaks_json(socket)
        connection = Connection(ConnId(next(self._ids)), link, mailbox, address, self._settings, json)
        mailbox.connect(connection.id, JsonPhone(link) if json else link)
        link.attach(connection.receive, connection.ponged, connection.afford)
        meters.CONNECTIONS.inc()
        said = about(log, mailbox.code, connection.id)
        said.info("opened")
        try:
            while (await socket.receive())["type"] != "websocket.disconnect":
                pass  # messages take another way
        finally:
            connection.end()
            mailbox.disconnect(connection.id)
            meters.CONNECTIONS.dec()
            said.info("closed")

    async def _find(self, socket: WebSocket, link: LinkProtocol, address: str) -> Mailbox | None:
        code = read_code(socket.path_params["code"])
        try:
            table = await self.look_for(socket, code, address)
            mailbox = await self._host.open(table.code, client_network(address)) if table is not None else None
        except TooManyMisses as wrong:
            link.hang_up(CloseCode.TOO_MANY, wrong.text)
            return None
        except Elsewhere as there:
            self._host.moved += 1
            link.hang_up(CloseCode.MOVED, there.node)
            return None
        except ServerStops:
            link.hang_up(SERVICE_RESTART, STOPS)
            return None
        except NetworkFull:
            link.hang_up(CloseCode.TOO_MANY, NetworkFull.text)
            return None
        except ServerFull:
            link.hang_up(CloseCode.SERVER_FULL, "this server is full")
            return None
        except StoreDown:
            link.hang_up(CloseCode.STORE_DOWN, STORE_AWAY)
            return None
        except BadRecord as bad:
            about(log, code or "").error("cannot be read: %s", bad)
            link.hang_up(CloseCode.ROOM_FAILED, "what was kept of this table cannot be read")
            return None
        if mailbox is None:
            link.hang_up(CloseCode.NO_SUCH_TABLE, "there is no table with this code")
        return mailbox


def _speaks_json(socket: WebSocket) -> bool:
    return JSON_SUBPROTOCOL in socket.scope["subprotocols"]


def is_direct(peer: str, address: str) -> bool:
    """Whether the kernel's peer is the phone itself: a public address, and not from a trusted proxy's word.

    What the request says of proxies is the phone's own to write, and would switch off what the kernel knows of a liar.
    """
    try:
        return peer == address and ipaddress.ip_address(address).is_global
    except ValueError:
        return False


class Connection:
    """One phone's way into its mailbox, with a limit on how much it may say."""

    def __init__(
        self, conn: ConnId, link: LinkProtocol, mailbox: Mailbox, address: str, settings: Settings, json: bool
    ) -> None:
        self.id = conn
        self._link = link
        self._mailbox = mailbox
        self._bucket = Bucket(settings.messages_per_s, settings.message_burst)
        self._direct = is_direct(link.peer, address)
        self._network = client_network(address)
        self._json = json
        self._asked_to_join = False
        self._patience = asyncio.get_running_loop().call_later(settings.join_timeout_s, self._expect_join)

    def receive(self, frame: bytes, arrived_us: int, text: bool) -> None:
        """Takes a frame that arrived at `arrived_us`: decodes it and drops it into the room's mailbox."""
        if self._link.closing:
            return
        if text and not self._json:
            self._link.hang_up(CloseCode.MALFORMED, "a text frame: messages are msgpack in binary frames")
        elif self._json and not text:
            self._link.hang_up(CloseCode.MALFORMED, "a binary frame: on this socket messages are JSON in text frames")
        else:
            try:
                message = read_client_message(from_json(frame) if text else frame)
            except Malformed as wrong:
                self._link.hang_up(CloseCode.MALFORMED, _short(str(wrong)))
                return
            self._asked_to_join = self._asked_to_join or isinstance(message, Join)
            self._mailbox.hear(self.id, message, arrived_us, self._network)

    def afford(self, now_us: int) -> bool:
        """Whether this phone may say one more thing; the socket is closed where it has said too much."""
        if self._bucket.take(now_us):
            return True
        self._link.hang_up(CloseCode.TOO_MANY, "too many messages")
        return False

    def ponged(self, sent_us: int, arrived_us: int) -> None:
        """A ping came back; pongs do not count as messages, there are no more of them than we asked for."""
        self._mailbox.pong(self.id, sent_us, arrived_us, self._link.kernel_rtt_us() if self._direct else None)

    def end(self) -> None:
        """The socket is gone."""
        self._patience.cancel()

    def _expect_join(self) -> None:
        """The time to say who you are is over; whoever was refused has some more, to try again."""
        if not self._asked_to_join:
            self._link.hang_up(CloseCode.JOIN_TIMEOUT, "nobody said who this is")
        elif not self._mailbox.has_joined(self.id):
            self._patience = asyncio.get_running_loop().call_later(REFUSED_S, self._expect_guest)

    def _expect_guest(self) -> None:
        """So is that. Only who is at the table is asked whether they are there: others would keep it awake for ever."""
        if not self._mailbox.has_joined(self.id):
            self._link.hang_up(CloseCode.JOIN_TIMEOUT, "nobody has come to the table")


class JsonPhone:
    """A phone that is told in JSON what the others are told in msgpack (P15)."""

    def __init__(self, link: LinkProtocol) -> None:
        self._link = link
        self.ping = link.ping
        self.hang_up = link.hang_up

    def write(self, frame: bytes) -> bool:
        """Sends without waiting; False when the peer was cut for not reading."""
        return self._link.write(_in_json(frame))


@lru_cache(maxsize=1)
def _in_json(frame: bytes) -> bytes:
    """The same frame in JSON, written once for all who get it one after the other."""
    return frame_of(as_json(payload_of(frame)), text=True)


def _short(reason: str) -> str:
    """At most the 123 bytes that a close frame has for its reason (RFC 6455 section 5.5)."""
    return reason.encode()[:123].decode(errors="ignore")
