"""Sockets below any client: bytes as they come, so that a test can say what no client would (RFC 6455)."""

import asyncio
import base64
import os
from urllib.parse import urlsplit

from wire.codec import read_server_message, write
from wire.messages import Message, ServerMessage, Update

TEXT, BINARY, CLOSE, PING, PONG, CONTINUATION = 1, 2, 8, 9, 10, 0
FIN, MASKED = 0x80, 0x80
PATIENCE_S = 20.0


def framed(opcode: int, payload: bytes = b"", *, fin: bool = True, masked: bool = True, reserved: int = 0) -> bytes:
    """A frame as a client would send it, or would not (RFC 6455, section 5.2)."""
    head = bytes(((FIN if fin else 0) | reserved << 4 | opcode,))
    length, mask_bit = len(payload), MASKED if masked else 0
    if length < 126:
        head += bytes((mask_bit | length,))
    elif length < 2**16:
        head += bytes((mask_bit | 126,)) + length.to_bytes(2)
    else:
        head += bytes((mask_bit | 127,)) + length.to_bytes(8)
    if not masked:
        return head + payload
    mask = os.urandom(4)
    return head + mask + bytes(byte ^ mask[nth % 4] for nth, byte in enumerate(payload))


class Closed(ConnectionError):
    """The server has closed the socket, with this code."""

    def __init__(self, payload: bytes) -> None:
        super().__init__(payload[2:].decode())
        self.code = int.from_bytes(payload[:2]) if payload else 1005


class Wire:
    """A connection to a server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, data: bytes) -> None:
        """Sends bytes."""
        self.writer.write(data)
        await self.writer.drain()

    async def say(self, message: Message) -> None:
        """Sends a message in a frame."""
        await self.send(framed(BINARY, write(message)))

    async def frame(self) -> tuple[int, bytes]:
        """The next frame's first byte without FIN, and its payload; raises `IncompleteReadError` at the end."""
        async with asyncio.timeout(PATIENCE_S):
            first, length = await self.reader.readexactly(2)
            if length == 126:
                length = int.from_bytes(await self.reader.readexactly(2))
            elif length == 127:
                length = int.from_bytes(await self.reader.readexactly(8))
            return first & ~FIN, await self.reader.readexactly(length)

    async def hear(self) -> ServerMessage:
        """The next message; pings that come before it are answered."""
        while True:
            opcode, payload = await self.frame()
            if opcode == PING:
                await self.send(framed(PONG, payload))
            elif opcode == BINARY:
                message = read_server_message(payload)
                assert message is not None
                return message
            elif opcode == CLOSE:
                raise Closed(payload)

    async def until_table(self) -> Update:
        """The first update: the whole table."""
        while not isinstance(message := await self.hear(), Update):
            pass
        return message

    async def close_code(self) -> int | None:
        """The code with which the server closes, after whatever comes before; None where it just hangs up."""
        try:
            while True:
                opcode, payload = await self.frame()
                if opcode == CLOSE:
                    return int.from_bytes(payload[:2]) if payload else 1005
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    def drop(self) -> None:
        """Hangs up without a word."""
        self.writer.transport.abort()


async def call(url: str, *, address: str = "127.0.0.1") -> Wire:
    """A connection that has said nothing yet; `address` is ours, and any of 127.0.0.0/8."""
    parts = urlsplit(url)
    return Wire(*await asyncio.open_connection(parts.hostname, parts.port, local_addr=(address, 0)))


def upgrade(url: str, path: str, **headers: str) -> bytes:
    """The request for a socket (RFC 6455, section 4.1)."""
    lines = {
        "Host": urlsplit(url).netloc,
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    return "\r\n".join([f"GET {path} HTTP/1.1", *(f"{n}: {v}" for n, v in lines.items()), "", ""]).encode()


async def dial(url: str, path: str, *, address: str = "127.0.0.1", **headers: str) -> Wire:
    """A socket that is open; raises `ConnectionError` where it is not let in."""
    wire = await call(url, address=address)
    try:
        await wire.send(upgrade(url, path, **headers))
        async with asyncio.timeout(PATIENCE_S):
            answer = await wire.reader.readuntil(b"\r\n\r\n")
        if b" 101 " not in answer.split(b"\r\n")[0]:
            raise ConnectionError(answer.decode())
    except BaseException:
        wire.drop()
        raise
    return wire
