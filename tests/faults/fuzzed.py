"""Row 14: frames that no phone would send, by the million: no crash, and none costs much time or memory.

They are made from the examples of the wire's page: bytes and fields are changed, and messages put together that fit the
game of the moment. Where Atheris is installed, it leads some of them to where the code has not been yet.
"""

import gc
import importlib.util
import json
import random
import re
import subprocess
import sys
import time
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from types import FunctionType
from typing import Any

import msgpack
import msgspec

from engine.rules import Rules
from server.table.mail import ConnId, Gone, HangUp, Input, Keep, Ping, Ponged, Said, Tell, Woken
from server.table.records import TableRecord
from server.table.room import Room
from tests.faults.figure import Figure
from tests.server.world import CODE, FakeLuck, S
from tests.support.serving import ROOT
from wire.codec import Malformed, from_json, write
from wire.codec import read_client_message as read
from wire.messages import MAX_FRAME_BYTES, AddComputer, Join, SetRules, Start

BATCH = 2_000
"""Frames at one table, before the next is set up."""
MOST_US = 1_000
MOST_BYTES = 256 * 1024
MEASURED = 20
"""Memory is measured at one table of so many, for that takes ten times as long."""
LED_S = 100
TRIES = 3
"""What took too long is played again: whatever else the machine does is none of the frame's doing."""

EXAMPLES = [
    bytes.fromhex(example["msgpack"])
    for example in json.loads((ROOT / "docs" / "protocol.vectors.json").read_text(encoding="utf-8"))["messages"]
    if example["from"] == "phone"
]
ODD: tuple[Any, ...] = (
    *(0, 1, -1, 2**31, 2**53, 2**53 + 1, -(2**53), 2**63 - 1, -(2**63), 2**64 - 1, 1.5, float("nan"), float("inf")),
    *(None, True, False, "", "x", "x" * 80, "x" * 255, "x" * 4000, "\0", "\u202e", "<b>", "🙂" * 20, "\ud83d"),
    *([], [[]], [0] * 16, [0] * 1_000, {}, {"t": "join"}, {1: 2}, b"", b"x" * 300),
)


# --- frames ------------------------------------------------------------------------------------------------------


def packed(fields: object) -> bytes:
    """Any fields, be they possible or not."""
    return bytes(msgpack.packb(fields, unicode_errors="surrogatepass"))


def bent(frame: bytes, rng: random.Random) -> bytes:
    """The frame with some of its bytes changed."""
    data = bytearray(frame)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(7):
            case 0:
                data[at:at] = rng.randbytes(rng.choice((1, 1, 2, 8, 200)))
            case 1:
                del data[at : at + rng.choice((1, 1, 2, 8))]
            case 2 if data:
                data[at % len(data)] ^= 1 << rng.randrange(8)
            case 3 if data:
                data[at % len(data)] = rng.choice(
                    b"\x00\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc4\xc7\xcb\xcf\xd9\xdc\xdf\xff"
                )
            case 4:
                data[at:at] = data[at : at + 40] * rng.choice((1, 2, 20))
            case 5:
                other = rng.choice(EXAMPLES)
                data[at:] = other[rng.randrange(len(other)) :]
            case _:
                data[at:at] = rng.choice(
                    (b"\x91", b"\x81\xa1t", b"\xdd\xff\xff\xff\xff", b"\xdf\x00\xff\xff\xff")
                ) * rng.choice((1, 30, 1_000))
    return bytes(data[:MAX_FRAME_BYTES])


def oddly_filled(fields: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """The message with a field that is wrong, missing or too many."""
    key = rng.choice(list(fields))
    match rng.randrange(6):
        case 0:
            del fields[key]
        case 1:
            fields[rng.choice(("n", "seat", "x" * 300, "t", ""))] = rng.choice(ODD)
        case 2 if isinstance(fields[key], dict) and fields[key]:
            fields[key] = oddly_filled(dict(fields[key]), rng)
        case 3 if isinstance(fields[key], int):
            fields[key] += rng.choice((-1, 1, 2, -(2**31), 2**31))
        case _:
            fields[key] = rng.choice(ODD)
    return fields


def fitting(fields: dict[str, Any], room: Room, rng: random.Random) -> dict[str, Any]:
    """The message as somebody could say it at this table now."""
    turned = room.state.play.game.view().turned if room.state.play is not None else 0
    for key, value in fields.items():
        match key:
            case "game":
                fields[key] = room.state.games - rng.choice((0, 0, 0, 0, 1))
            case "nth":
                fields[key] = max(0, turned + rng.choice((-1, 0, 0, 1, 1)))
            case "question":
                fields[key] = (
                    room.state.play.referee.question.id
                    if room.state.play is not None and room.state.play.referee.question is not None
                    else 1
                )
            case "seat" if isinstance(value, str):
                fields[key] = rng.choice([chair.id for chair in room.state.seats.chairs] or ["x"])
            case "reaction_us" | "late_us":
                fields[key] = rng.choice((None, 0, 150_000, 400_000, -5, 2**53)) if key[0] == "r" else 4_000
            case "on":
                fields[key] = rng.random() < 0.3
            case _:
                pass
    return fields


def frame_for(room: Room, rng: random.Random) -> bytes:
    """Some frame, from noise to what fits."""
    example = rng.choice(EXAMPLES)
    kind = rng.random()
    if kind < 0.05:
        return rng.randbytes(rng.choice((0, 1, 8, 100, MAX_FRAME_BYTES)))
    if kind < 0.4:
        return bent(example, rng)
    fields = msgpack.unpackb(example)
    return packed(oddly_filled(fields, rng) if kind < 0.7 else fitting(fields, room, rng))


# --- the table that gets them ------------------------------------------------------------------------------------


class Target:
    """A table with people at it, from the bytes of a frame to the bytes of every answer."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.room = Room(TableRecord(CODE, Rules()), FakeLuck(seed), max_spectators=3)
        self.now_us = 1_000 * S
        self.conns = 0
        self.keys = [f"key-of-somebody-at-this-table-{nth}" for nth in range(4)]
        self.people: dict[ConnId, int] = {}
        for nth in range(4):
            self.connect(nth)
        self.host_says(
            SetRules(Rules(queens=True, call=self.rng.random() < 0.3, min_show_ms=300)), AddComputer(), Start()
        )

    def connect(self, nth: int) -> None:
        """The person with that number is there: a host, a player, somebody who watches, somebody who says nothing."""
        self.conns += 1
        self.people[ConnId(self.conns)] = nth
        if nth < 3:
            self.happens(Said(ConnId(self.conns), Join(f"P{nth}", "🦊", self.keys[nth], watch=nth == 2)))

    def host_says(self, *messages: Any) -> None:
        """The host, whoever it is, says this."""
        host = next(
            (chair.conn for chair in self.room.state.seats.chairs if chair.id == self.room.state.seats.host), None
        )
        for message in messages:
            if host is not None and host in self.people:
                self.happens(Said(host, message))

    def happens(self, happened: Input) -> None:
        """Carries out what follows, as the host of all rooms does."""
        for effect in self.room.receive(happened, self.now_us):
            match effect:
                case Tell(_, message):
                    write(message)
                case Keep(change):
                    msgspec.msgpack.encode(change)
                case Ping(conns):
                    for conn in conns:
                        if conn in self.people and self.rng.random() < 0.9:
                            self.happens(Ponged(conn, self.now_us))
                case HangUp(conn):
                    self.people.pop(conn, None)

    def pass_time(self) -> None:
        """Some time passes, those who were hung up on come back, and the host goes on when a game has ended."""
        until_us = self.now_us + self.rng.choice((0, 0, 1_000, 20_000, 150_000, 900_000))
        while (wake_us := self.room.wake_at()) is not None and wake_us <= until_us:
            self.now_us = max(self.now_us, wake_us)
            self.happens(Woken())
        self.now_us = until_us
        for nth in range(4):
            if nth not in self.people.values():
                self.connect(nth)
        if self.room.state.play is None and self.rng.random() < 0.05:
            self.host_says(Start())

    def take(self, frame: bytes, text: bool = False) -> bool:
        """A frame has come; whether it was a message. One that is none closes its socket."""
        conn = self.rng.choice(list(self.people))
        try:
            message = read(from_json(frame) if text else frame)
        except Malformed as wrong:
            str(wrong).encode()  # it goes into the close frame
            if self.rng.random() < 0.02:
                del self.people[conn]
                self.happens(Gone(conn))
            return False
        self.happens(Said(conn, message))
        return True


@dataclass
class Cost:
    """What frames have cost: the slowest in microseconds and the largest in bytes, with the frame."""

    frames: int = 0
    messages: int = 0
    slowest_us: float = 0.0
    slowest: bytes = b""
    largest: int = 0
    crash: str = ""


def batch(seed: int, most: int = BATCH, stop_at: int = -1) -> tuple[Cost, int]:
    """The cost of one table's frames, and which of them was the slowest."""
    target, rng, cost, slowest_at = Target(seed), random.Random(-seed - 1), Cost(), -1
    traced = seed % MEASURED == 0 and stop_at < 0
    if traced:
        tracemalloc.start()
    frame = b""
    try:
        for number in range(most):
            target.pass_time()
            frame, text = frame_for(target.room, rng), rng.random() < 0.15
            if text:
                frame = json_of(frame, rng)
            if traced:
                tracemalloc.reset_peak()
                before = tracemalloc.get_traced_memory()[0]
            began_ns = time.thread_time_ns()
            cost.messages += target.take(frame, text)
            took_us = (time.thread_time_ns() - began_ns) / 1000
            cost.frames += 1
            if traced:
                cost.largest = max(cost.largest, tracemalloc.get_traced_memory()[1] - before)
            elif number == stop_at or (stop_at < 0 and took_us > cost.slowest_us):
                cost.slowest_us, cost.slowest, slowest_at = took_us, frame, number
            if number == stop_at:
                break
    except Exception as wrong:
        cost.crash = f"seed {seed}: {type(wrong).__name__}: {wrong} on {frame[:80].hex()}"
    finally:
        tracemalloc.stop()
    return cost, slowest_at


def json_of(frame: bytes, rng: random.Random) -> bytes:
    """The same in JSON, where it can be, and sometimes not quite."""
    try:
        text = json.dumps(msgpack.unpackb(frame), ensure_ascii=rng.random() < 0.5).encode(errors="replace")
    except (ValueError, TypeError, RecursionError, msgpack.exceptions.UnpackException):
        return frame
    return bent(text, rng) if rng.random() < 0.3 else text[:MAX_FRAME_BYTES]


def batches(seeds: range) -> Cost:
    """What the frames at all these tables have cost."""
    gc.disable()  # as on a server, where it runs between frames and not in one
    total = Cost()
    for seed in seeds:
        cost, at = batch(seed)
        tries = 0
        while cost.slowest_us > MOST_US and tries < TRIES:
            again, _ = batch(seed, stop_at=at)
            cost.slowest_us, tries = min(cost.slowest_us, again.slowest_us), tries + 1
        if cost.largest > MOST_BYTES:  # a table of the interpreter's own may have grown meanwhile; it does not twice
            cost.largest = min(cost.largest, batch(seed)[0].largest)
        total.frames += cost.frames
        total.messages += cost.messages
        total.largest = max(total.largest, cost.largest)
        if cost.slowest_us > total.slowest_us:
            total.slowest_us, total.slowest = cost.slowest_us, cost.slowest
        total.crash = total.crash or cost.crash
        gc.collect(1)
    gc.enable()
    return total


# --- led by coverage ---------------------------------------------------------------------------------------------


def led(runs: int) -> None:
    """Has Atheris choose the frames, by what they have reached; ends the process."""
    import atheris  # type: ignore[import-not-found,import-untyped,unused-ignore]

    for module in (
        "wire.messages",
        "server.table.room",
        "server.table.play",
        "server.table.referee",
        "server.judge.judge",
        "server.table.names",
        "engine.slapjack",
    ):
        classes = [each for each in vars(sys.modules[module]).values() if isinstance(each, type)]
        for place in (sys.modules[module], *(each for each in classes if each.__module__ == module)):
            for name, function in list(vars(place).items()):
                if isinstance(function, FunctionType) and function.__module__ == module:
                    setattr(place, name, atheris.instrument_func(function))
    target, taken = Target(1), 0

    def take(data: bytes) -> None:
        nonlocal target, taken
        taken += 1
        if taken % BATCH == 0:
            target = Target(taken)
        target.pass_time()
        target.take(data[:MAX_FRAME_BYTES])

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() < 0.3:
            return frame_for(target.room, rng)[:most]
        return bytes(atheris.Mutate(data, most))

    atheris.Setup(
        [sys.argv[0], f"-runs={runs}", f"-max_len={MAX_FRAME_BYTES}", f"-max_total_time={LED_S}", "-verbosity=1"],
        take,
        custom_mutator=mutate,
    )
    atheris.Fuzz()


# --- row 14 ------------------------------------------------------------------------------------------------------


def row(folder: Path, full: bool) -> Figure:
    """On both processors; the part that is led by coverage only where Atheris is installed."""
    tables, workers = (500, 2) if full else (2, 1)
    if workers == 1:
        costs = [batches(range(tables))]
    else:
        with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
            costs = list(pool.map(batches, [range(nth, tables, workers) for nth in range(workers)]))
    frames, messages = sum(cost.frames for cost in costs), sum(cost.messages for cost in costs)
    slowest_us, largest = max(cost.slowest_us for cost in costs), max(cost.largest for cost in costs)
    crashes = [cost.crash for cost in costs if cost.crash]
    text = (
        f"{frames} frames, {messages} of them messages: {len(crashes)} crashes, {slowest_us / 1000:.2f} ms and "
        f"{largest / 1024:.0f} KiB at most"
    )
    if full and importlib.util.find_spec("atheris") is not None:
        runs, crash = led_apart(200_000)
        text += f"; {runs} more led by coverage: {crash or 'no crash'}"
        crashes += [crash] if crash else []
    return Figure(not crashes and slowest_us <= MOST_US and 0 < largest <= MOST_BYTES, "; ".join([text, *crashes]))


def led_apart(runs: int) -> tuple[int, str]:
    """In a process of its own, which it ends: how many there were in the time there is, and what it crashed on."""
    ended = subprocess.run(
        [sys.executable, "-c", f"from tests.faults.fuzzed import led; led({runs})"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=3 * LED_S,
        check=False,
    )
    done = re.search(r"Done (\d+) runs", ended.stderr)
    if ended.returncode == 0 and done is not None:
        return int(done[1]), ""
    return 0, " ".join(ended.stderr.split())[-300:]
