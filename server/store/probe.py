"""Whether a server can be a store: it is asked to do once what it will be asked to do all day, and says what it lacks.

The start of a server, `/readyz` and `slapjack doctor` ask the same. Must not depend on how tables are kept.
"""

import re

from engine.value import Value
from server.store.pipeline import Pipeline
from server.store.port import StoreDown

OLDEST = 7
"""The oldest Redis that will do, and Valkey began later than it."""
SECONDS = 10
KEYS = [f"slapjack:{{probe}}:{kind}" for kind in ("text", "hash", "stream", "set", "ranked")]
SETTINGS = ("appendonly", "appendfsync", "maxmemory-policy")


class Unfit(StoreDown):
    """The server answers, and cannot be a store; the text says in one line what is missing."""


class Settings(Value):
    """How the server was set up to keep things: one sentence for each trouble, and for what it does not tell."""

    troubles: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


async def probe(pipeline: Pipeline) -> None:
    """Returns when the server does what a store must; raises `Unfit` for what is missing, and `StoreDown`."""
    try:
        version, mode = await _greeting(pipeline)
        if mode == "cluster":
            raise Unfit(f"{_at(pipeline)} runs in cluster mode: give Slapjack a Redis that does not")
        if version and version[0] < OLDEST:
            old = ".".join(map(str, version))
            raise Unfit(f"{_at(pipeline)} is version {old}: Slapjack needs Redis {OLDEST} or Valkey, or newer")
        if (refused := await pipeline.script("probe")(KEYS, (SECONDS,))) is not None:
            command, said = map(_text, refused)
            raise Unfit(f"{_at(pipeline)} does not do `{command}` in a script: {said.partition(' script:')[0]}", said)
        await pipeline.ask_all(
            [
                lambda pipe: pipe.getex(KEYS[0], ex=SECONDS),
                lambda pipe: pipe.set(KEYS[0], "x", nx=True, px=SECONDS * 1000),
                lambda pipe: pipe.xrange(KEYS[2], count=1),
                lambda pipe: pipe.zcount(KEYS[4], "-inf", "+inf"),
                lambda pipe: pipe.time(),
            ],
            KEYS[0],
        )
    except Unfit:
        raise
    except StoreDown as down:
        raise _explained(pipeline, down) from down


async def how_it_keeps(pipeline: Pipeline) -> Settings:
    """What of its settings will lose games; raises `StoreDown` when it does not answer at all."""
    found: dict[str, str] = {}
    try:
        told = await pipeline.answer(
            pipeline.redis.config_get("appendonly", "appendfsync", "maxmemory-policy"), "CONFIG"
        )
        found = {_text(name): _text(value) for name, value in told.items()}
    except StoreDown as refused:
        if not refused.refused:
            raise
    if "appendonly" not in found or "maxmemory-policy" not in found:
        found |= {name: value for name, value in (await _from_info(pipeline)).items() if name not in found}
    return judged(found)


def judged(found: dict[str, str]) -> Settings:
    """The same of these settings, of which some may be unknown."""
    troubles = []
    if found.get("appendonly") == "no":
        troubles.append("it forgets all when it ends: set `appendonly yes` there")
    elif found.get("appendfsync", "always") != "always":
        lost = "a kill may cost the last moves"
        troubles.append(f"with `appendfsync {found['appendfsync']}` {lost}: set `appendfsync always` there")
    if (policy := found.get("maxmemory-policy", "noeviction")) != "noeviction":
        troubles.append(f"`maxmemory-policy {policy}` throws games away when memory is short: set `noeviction` there")
    unknown = tuple(name for name in SETTINGS if name not in found)
    return Settings(tuple(troubles), unknown)


async def _greeting(pipeline: Pipeline) -> tuple[tuple[int, ...], str]:
    """The server's version and mode, `()` and empty where it does not say."""
    told = await pipeline.ask(lambda pipe: pipe.execute_command("HELLO"), "HELLO")
    pairs = told.items() if isinstance(told, dict) else zip(told[::2], told[1::2], strict=False)
    said = {_text(name): _text(value) for name, value in pairs if isinstance(value, bytes | str)}
    version = re.match(r"(\d+)\.(\d+)\.(\d+)", said.get("version", ""))
    return (tuple(map(int, version.groups())) if version else ()), said.get("mode", "")


async def _from_info(pipeline: Pipeline) -> dict[str, str]:
    """What a server that keeps its configuration to itself says beside it."""
    try:
        told = await pipeline.answer(pipeline.redis.info(), "INFO")
    except StoreDown as refused:
        if not refused.refused:
            raise
        return {}
    found = {}
    if "aof_enabled" in told:
        found["appendonly"] = "yes" if int(told["aof_enabled"]) else "no"
    if "maxmemory_policy" in told:
        found["maxmemory-policy"] = str(told["maxmemory_policy"])
    return found


def _at(pipeline: Pipeline) -> str:
    return f"the store at {pipeline.where}"


def _explained(pipeline: Pipeline, down: StoreDown) -> StoreDown:
    """What a refusal comes to, in one line that says what to do."""
    said, at = down.refused, _at(pipeline)
    if not said:
        return down
    command = re.search(r"permissions to run the '([^']+)' command", said)
    for sign, means in (
        (command is not None, f"does not let this user run `{command[1].upper() if command else ''}`: allow it"),
        ("access one of the keys" in said, "does not let this user have the keys slapjack:*: allow them"),
        ("unknown command" in said.lower(), f"lacks a command ({said[:80]}): Slapjack needs Redis {OLDEST} or Valkey"),
        ("No matching script" in said, "does not let this user run `SCRIPT LOAD`: allow it"),
        ("compiling script" in said, f"cannot run our scripts: Slapjack needs Redis {OLDEST} or Valkey, or newer"),
        ("read only replica" in said, "is a read-only replica: give the address of its master"),
        ("'maxmemory'" in said, "is full: give it more memory (`maxmemory`), or delete what is not needed"),
        ("MISCONF" in said, "cannot write to its disk, and takes no more: see its log"),
        ("Link with MASTER" in said, "is a replica that has lost its master: give the address of the master"),
        ("oading" in said, "is still loading what it has kept: wait"),
        ("slot" in said, "runs in cluster mode: give Slapjack a Redis that does not"),
    ):
        if sign:
            return Unfit(f"{at} {means}", refused=said)
    return down


def _text(said: bytes | str) -> str:
    return said.decode(errors="replace") if isinstance(said, bytes) else said
