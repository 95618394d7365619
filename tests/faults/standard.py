"""Row 15: WebSockets as RFC 6455 has them, case by case and section by section, at a real table.

Autobahn's own suite needs Python 2; these are its cases, as far as a server that takes nothing but its own messages can
be asked them. A message is answered (`Synced`), or the socket is closed with a code: with our own 4400 for a text that
is none (section 8.1 leaves the code open).
"""

import asyncio
import base64
import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from clients.sdk import create_table
from tests.faults.figure import Figure
from tests.faults.wire import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, Wire, call, dial, framed, upgrade
from tests.support.serving import Served, served
from wire.codec import read_server_message, write
from wire.messages import JSON_SUBPROTOCOL, CloseCode, Sync, Synced

PROTOCOL_ERROR, BAD_TEXT, TOO_BIG = 1002, 1007, 1009
ANSWERED = "answered"
CLOSED = "hung up"
GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
ASK = write(Sync(7))
ASK_JSON = json.dumps({"t": "sync", "sent_us": 7}).encode()
KNOWN = {
    "5.5.1 a close within a message": "1002, by the parser of websockets",
    "4.1 HTTP/1.0": "let in, for uvicorn hands the request on as HTTP/1.1",
}
"""What fails, and whose it is."""

Outcome = str | int | bytes


@dataclass(frozen=True)
class Case:
    """What is sent, in pieces, and what must come of it."""

    name: str
    pieces: tuple[bytes, ...]
    outcome: Outcome
    json: bool = False


def parts(opcode: int, message: bytes, count: int) -> tuple[bytes, ...]:
    """A message in so many frames."""
    size = -(-len(message) // count)
    cut = [message[at : at + size] for at in range(0, size * count, size)]
    frames = [framed(CONTINUATION if nth else opcode, piece, fin=nth == count - 1) for nth, piece in enumerate(cut)]
    return tuple(frames)


def code(number: int, reason: bytes = b"") -> bytes:
    """What a close frame holds."""
    return number.to_bytes(2) + reason


def cases() -> list[Case]:
    """All of them."""
    ask = framed(BINARY, ASK)
    first, second = parts(BINARY, ASK, 2)
    listed = [
        Case("5.1 a frame without a mask", (framed(BINARY, ASK, masked=False),), PROTOCOL_ERROR),
        Case("5.1 a ping without a mask", (framed(PING, b"x", masked=False),), PROTOCOL_ERROR),
        *(
            Case(f"5.2 reserved bits {bits}", (framed(BINARY, ASK, reserved=bits),), PROTOCOL_ERROR)
            for bits in range(1, 8)
        ),
        *(Case(f"5.2 opcode {op}", (framed(op, b"x"),), PROTOCOL_ERROR) for op in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)),
        Case("5.2 octet by octet", tuple(bytes((octet,)) for octet in ask), ANSWERED),
        Case("5.2 two frames in one piece", (ask + ask,), ANSWERED),
        Case("5.2 a length beyond 2^63", (bytes((0x82, 0xFF)) + b"\xff" * 8 + b"mask",), TOO_BIG),
        Case("5.2 a length of 16 MiB", (bytes((0x82, 0xFF)) + (2**24).to_bytes(8) + b"mask" + b"x" * 99,), TOO_BIG),
        *(Case(f"5.4 in {count} frames", parts(BINARY, ASK, count), ANSWERED) for count in (2, 3, len(ASK))),
        Case("5.4 empty frames between", (first, framed(CONTINUATION, fin=False), second), ANSWERED),
        Case("5.4 a continuation of nothing", (framed(CONTINUATION, ASK),), PROTOCOL_ERROR),
        Case("5.4 a continuation of nothing, and more", (framed(CONTINUATION, ASK, fin=False),), PROTOCOL_ERROR),
        Case("5.4 a message within a message", (first, ask), PROTOCOL_ERROR),
        Case("5.4 a text within a message", (first, framed(TEXT, b"x")), PROTOCOL_ERROR),
        Case("5.4 a ping within a message", (first, framed(PING, b"hi"), second), ANSWERED),
        Case("5.4 a ping within a message is answered", (first, framed(PING, b"hi")), b"hi"),
        Case("5.4 too much in pieces", tuple(parts(BINARY, b"x" * 9_000, 9)), TOO_BIG),
        Case("5.5 a ping of 126 bytes", (framed(PING, b"x" * 126),), PROTOCOL_ERROR),
        Case("5.5 a pong of 126 bytes", (framed(PONG, b"x" * 126),), PROTOCOL_ERROR),
        Case("5.5 a close of 126 bytes", (framed(CLOSE, code(1000, b"x" * 124)),), PROTOCOL_ERROR),
        *(Case(f"5.5 half of {op}", (framed(op, b"x", fin=False),), PROTOCOL_ERROR) for op in (CLOSE, PING, PONG)),
        Case("5.5.1 a close without a code", (framed(CLOSE),), 1005),
        Case("5.5.1 a close of one byte", (framed(CLOSE, b"x"),), PROTOCOL_ERROR),
        Case("5.5.1 a close with a reason", (framed(CLOSE, code(1000, "bye ☺".encode())),), 1000),
        Case("5.5.1 a reason of 123 bytes", (framed(CLOSE, code(1000, b"x" * 123)),), 1000),
        Case("5.5.1 a message after the close", (framed(CLOSE, code(1000)) + ask,), 1000),
        Case("5.5.1 a close within a message", (first, framed(CLOSE, code(1000))), 1000),
        Case("5.5.2 an empty ping", (framed(PING),), b""),
        Case("5.5.2 a ping of 125 bytes", (framed(PING, b"\xfe" * 125),), b"\xfe" * 125),
        Case("5.5.2 a ping octet by octet", tuple(bytes((octet,)) for octet in framed(PING, b"slowly")), b"slowly"),
        Case("5.5.3 pongs that nobody asked for", (framed(PONG), framed(PONG, b"x" * 125), ask), ANSWERED),
        Case("5.6 a text where messages are binary", (framed(TEXT, ASK_JSON),), CloseCode.MALFORMED),
        Case("5.6 an empty message", (framed(BINARY),), CloseCode.MALFORMED),
        *(
            Case(f"5.7 {size} bytes", (framed(BINARY, b"\xc1" * size),), CloseCode.MALFORMED)
            for size in (125, 126, 127, 4096)
        ),
        *(Case(f"5.7 {size} bytes", (framed(BINARY, b"\xc1" * size),), TOO_BIG) for size in (4097, 65_535, 65_536)),
        Case("7.4.1 a reason that is no text", (framed(CLOSE, code(1000, b"\xff")),), BAD_TEXT),
    ]
    for number in (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999):
        listed.append(Case(f"7.4 code {number}", (framed(CLOSE, code(number)),), number))
    for number in (0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999, 5000, 65_535):
        listed.append(Case(f"7.4 code {number}, which is none", (framed(CLOSE, code(number)),), PROTOCOL_ERROR))
    texts = [
        b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xc0\xaf",
        b"\x80",
        b"\xfe",
    ]
    texts += [b"\xe0\x80\xaf", b"\xf8\x88\x80\x80\x80", b"\xed\xbf\xbf", b"abc\xff", b"\xf0\x9f\x99"]
    listed += [
        Case(f"8.1 {text.hex()} is no text", (framed(TEXT, text),), CloseCode.MALFORMED, json=True) for text in texts
    ]
    listed += [
        Case(f"8.1 {text.hex()} in pieces", parts(TEXT, text, len(text)), CloseCode.MALFORMED, json=True)
        for text in texts[:3]
    ]
    listed.append(Case("8.1 a text", (framed(TEXT, ASK_JSON),), ANSWERED, json=True))
    listed.append(Case("8.1 a text octet by octet", parts(TEXT, ASK_JSON, len(ASK_JSON)), ANSWERED, json=True))
    split = json.dumps({"t": "☺☺"}, ensure_ascii=False).encode()
    listed.append(Case("8.1 a sign in two frames", parts(TEXT, split, len(split)), CloseCode.MALFORMED, json=True))
    return listed


async def outcome_of(url: str, table: str, case: Case) -> Outcome:
    """What comes of it: `ANSWERED`, a close code, `CLOSED` without one, or what a pong holds."""
    wire = await dial(url, f"/ws/{table}", **({"Sec_WebSocket_Protocol": JSON_SUBPROTOCOL} if case.json else {}))
    try:
        for piece in case.pieces:
            await wire.send(piece)
        while True:
            opcode, payload = await wire.frame()
            if opcode == CLOSE:
                found: Outcome = int.from_bytes(payload[:2]) if payload else 1005
                if found in (1000, 1005) or isinstance(case.outcome, int):
                    await _ends(wire)
                return found
            if opcode == PONG and isinstance(case.outcome, bytes):
                return payload
            if opcode == TEXT and b"synced" in payload:
                return ANSWERED
            if opcode == BINARY and isinstance(read_server_message(payload), Synced):
                return ANSWERED
    except (asyncio.IncompleteReadError, ConnectionError, TimeoutError):
        return CLOSED
    finally:
        wire.drop()


async def _ends(wire: Wire) -> None:
    """The server ends the connection after the closing handshake (section 7.1.1)."""
    with suppress(ConnectionError):
        await wire.send(framed(CLOSE, code(1000)))
        async with asyncio.timeout(10):
            while await wire.reader.read(4096):
                pass


# --- the handshake -----------------------------------------------------------------------------------------------


async def answer(url: str, request: bytes) -> str:
    """The head of what a request is answered."""
    wire = await call(url)
    try:
        await wire.send(request)
        async with asyncio.timeout(10):
            return (await wire.reader.readuntil(b"\r\n\r\n")).decode()
    except (asyncio.IncompleteReadError, ConnectionError, TimeoutError):
        return CLOSED
    finally:
        wire.drop()


async def handshakes(url: str, table: str) -> list[str]:
    """The handshakes that do not go as sections 4 and 9 have it."""
    whole = upgrade(url, f"/ws/{table}", Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==")
    accept = base64.b64encode(hashlib.sha1(b"dGhlIHNhbXBsZSBub25jZQ==" + GUID.encode()).digest()).decode()
    good = await answer(url, whole)
    wrong = [] if " 101 " in good and accept in good else ["4.2.2 accept"]
    offers = await answer(url, upgrade(url, f"/ws/{table}", Sec_WebSocket_Extensions="permessage-deflate"))
    wrong += ["9.1 an extension that nobody wants"] * (
        "sec-websocket-extensions" in offers.lower() or " 101 " not in offers
    )
    others = await answer(url, upgrade(url, f"/ws/{table}", Sec_WebSocket_Protocol="chat, superchat"))
    wrong += ["4.2.2 a protocol that nobody speaks"] * (
        "sec-websocket-protocol" in others.lower() or " 101 " not in others
    )
    bad = {
        "4.2.1 no key": whole.replace(b"Sec-WebSocket-Key", b"X-Key"),
        "4.2.1 a short key": whole.replace(b"dGhlIHNhbXBsZSBub25jZQ==", b"c2hvcnQ="),
        "4.2.1 no version": whole.replace(b"Sec-WebSocket-Version", b"X-Version"),
        "4.4 another version": whole.replace(b"Version: 13", b"Version: 8"),
        "4.1 no GET": whole.replace(b"GET ", b"POST "),
        "4.1 HTTP/1.0": whole.replace(b"HTTP/1.1", b"HTTP/1.0"),
        "4.2.1 no upgrade": whole.replace(b"Upgrade: websocket", b"Upgrade: h2c"),
        "4.2.1 no connection": whole.replace(b"Connection: Upgrade", b"Connection: keep-alive"),
        "4.2.1 nonsense": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    }
    return wrong + [name for name, request in bad.items() if " 101 " in await answer(url, request)]


async def held_to(server: Served) -> Figure:
    """Every case, and what fails."""
    table = await create_table(server.url)
    failed: list[str] = []
    listed = cases()
    gate = asyncio.Semaphore(10)

    async def tried(case: Case) -> None:
        async with gate:
            found = await outcome_of(server.url, table, case)
        if found != case.outcome:
            failed.append(f"{case.name}: {found!r} instead of {case.outcome!r}")

    await asyncio.gather(*(tried(case) for case in listed))
    failed += await handshakes(server.url, table)
    known = [f"{name} ({KNOWN[name]})" for each in failed if (name := each.partition(":")[0]) in KNOWN]
    unknown = [each for each in failed if each.partition(":")[0] not in KNOWN]
    text = f"{len(listed) + 12} cases by section of RFC 6455: {len(unknown)} failed"
    text += f", {len(known)} known: {'; '.join(known)}" if known else ""
    return Figure(not unknown, "; ".join([text, *unknown[:12]]))


def row(folder: Path, full: bool) -> Figure:
    """The same in both forms: it takes a second."""
    with served(folder, module="server") as server:
        return asyncio.run(held_to(server))
