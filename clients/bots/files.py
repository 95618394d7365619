"""Bots by the name of a policy, or as Python files that people write.

A bot file has `async def play(player)`, which is given a player at its table and plays until it has enough. What it
may do and see is the Python client's (docs/bots.md).
"""

import inspect
import runpy
from collections.abc import Callable, Coroutine
from pathlib import Path
from random import Random
from typing import Any

from clients.bots.mind import POLICIES, Mind
from clients.bots.seat import play
from clients.sdk import Player

Play = Callable[[Player], Coroutine[Any, Any, None]]


class BadBot(Exception):
    """There is no such bot, or its file cannot be used; the text says why in one line."""


def find_bot(name: str) -> Play:
    """What plays under that name: a policy's, or the path of a bot file, which is run. Raises `BadBot`."""
    policy = POLICIES.get(name)
    if policy is not None:
        return lambda player: play(player, Mind(policy, Random()))
    path = Path(name)
    if not path.is_file():
        raise BadBot(f"no bot is called {name!r}: choose {', '.join(POLICIES)}, or name a Python file")
    try:
        found = runpy.run_path(str(path)).get("play")
    except (Exception, SystemExit) as wrong:
        raise BadBot(f"{name} cannot be run: {type(wrong).__name__}: {wrong}") from wrong
    if not inspect.iscoroutinefunction(found):
        raise BadBot(f"{name} is no bot: it has no `async def play(player)`")
    return found


def bot_name(name: str) -> str:
    """What a bot is called at the table."""
    return Path(name).stem.replace("_", " ").capitalize()[:17]
