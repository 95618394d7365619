"""`slapjack`: reads the settings, and serves or does one thing with the store."""

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TypeAlias, TypeVar

import shtab

from server import __version__
from server.base.settings import BadSetting, Settings, read_settings
from server.ops.command import Failed, export_to, import_from, tell_verdicts
from server.ops.doctor import findings, in_words, look_at_store
from server.ops.people import about_people
from server.serve import CannotStart, RealClock, RealRandomSource, listen, open_store, serve
from server.store.backup import CannotExport
from server.store.embedded import EmbeddedStore, NoStore, running
from server.store.port import BadRecord, StoreDown
from server.store.redis import RedisStore

Done = TypeVar("Done")


def do(settings: Settings, command: Callable[[RedisStore], Coroutine[None, None, Done]], *, new: bool = False) -> Done:
    """Does one thing with the store, be a server running or not; `new` where there need not be one yet.

    Raises `CannotStart`, and what the command raises.
    """

    async def with_store(url: str) -> Done:
        async with open_store(settings, url) as store:
            return await command(store)

    url = settings.redis_url or running(settings.data)
    if url:
        return asyncio.run(with_store(url))
    if not new and not settings.data.exists():
        raise CannotStart(f"there is nothing in {settings.data}: set SLAPJACK_DATA or REDIS_URL as for the server")
    try:
        store = EmbeddedStore(settings.data, fsync=settings.fsync)
    except NoStore as wrong:
        raise CannotStart(str(wrong)) from None
    try:
        return asyncio.run(with_store(store.url))
    finally:
        store.stop()


def main(arguments: Sequence[str] | None = None) -> int:
    """The server's part of the command `slapjack` (clients/command.py has all of it). Returns as `carry_out` does."""
    return carry_out(command_line()[0].parse_args(arguments))


def carry_out(told: argparse.Namespace) -> int:
    """Does what was asked. Returns 0 when all went well, 1 when it did not, 2 for what it cannot use."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    if os.name == "nt":
        print("slapjack: the server needs Linux or macOS (on Windows: WSL 2); play and bots run here", file=sys.stderr)
        return 1
    try:
        settings = read_settings(os.environ)
        match told.command:
            case "export":
                do(settings, lambda store: export_to(store, told.file, print))
            case "import":
                do(settings, lambda store: import_from(store, told.file, told.replace, print), new=True)
            case "verdicts":
                return 0 if do(settings, lambda store: tell_verdicts(store, told.code, print)) else 1
            case "people":
                do(settings, lambda store: about_people(store, told, RealRandomSource(), RealClock(), print))
            case "doctor":
                found = [asyncio.run(look_at_store(settings)), *findings(settings, RealClock(), listen)]
                print(in_words(found))
                return 1 if any(finding.good is False for finding in found) else 0
            case _:
                serve(settings, RealClock(through_sleep=bool(settings.node)), RealRandomSource())
    except (BadSetting, CannotStart, Failed, CannotExport, StoreDown, BadRecord) as wrong:
        print(f"slapjack: {wrong}", file=sys.stderr)
        return 2 if isinstance(wrong, BadSetting) else 1
    except KeyboardInterrupt:
        return 130
    return 0


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def command_line() -> tuple[argparse.ArgumentParser, Commands]:
    """What the command line may say, and where more commands are added to it."""

    def plain(name: str, what: str, help_: str, epilog: str = "") -> argparse.ArgumentParser:
        return commands.add_parser(
            name, help=help_, description=what, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
        )

    parser = argparse.ArgumentParser(
        prog="slapjack",
        description="The card game Slapjack, for the phones around you.",
        epilog="Settings are environment variables; the README lists them.",
    )
    parser.add_argument("--version", action="version", version=f"slapjack {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    plain("serve", "Start the server, and say where it is.", "start the server (what is done without a command)")
    export = plain("export", EXPORT, "write all tables, people and scores into a file", EXPORT_EXAMPLES)
    new = export.add_argument("file", type=Path, metavar="FILE", help="a file that is not there yet")
    import_ = plain("import", IMPORT, "put what a file has into the store", IMPORT_EXAMPLES)
    kept = import_.add_argument("file", type=Path, metavar="FILE", help="what `slapjack export` wrote")
    new.complete = kept.complete = shtab.FILE  # type: ignore[attr-defined]
    import_.add_argument("--replace", action="store_true", help="delete what is there, and have the file's instead")
    verdicts = plain("verdicts", VERDICTS, "derive every verdict of a table's last games again", VERDICTS_EXAMPLES)
    verdicts.add_argument("code", metavar="CODE", help="the table's code")
    people = plain("people", PEOPLE, "list, rename or remove people on the leaderboard", PEOPLE_EXAMPLES)
    people.add_argument("name", nargs="?", default="", metavar="NAME", help="a part of a name to look for")
    what = people.add_mutually_exclusive_group()
    what.add_argument("--rename", nargs=2, metavar=("ID", "NAME"), help="call somebody that until their next game")
    what.add_argument("--remove", metavar="ID", help="take somebody off every leaderboard")
    what.add_argument("--forget", metavar="ID", help="delete all that is kept of somebody, as if they had asked for it")
    plain("doctor", DOCTOR, "see what could keep people from playing here", DOCTOR_EXAMPLES)
    return parser, commands


EXPORT = """\
Write all tables, people and scores into a file, be the server running or not.

Games go on meanwhile; only the leaderboards stand still until it is done."""
EXPORT_EXAMPLES = """\
examples:
  slapjack export slapjack-$(date +%F).backup
  REDIS_URL=redis://localhost:6379/0 slapjack export slapjack.backup"""
IMPORT = """\
Put all that `slapjack export` wrote into the store, whichever server it came from.

The whole file is checked before anything is changed. A store that is not empty is left
alone unless --replace is given; tables that are awake then go on as in the file."""
IMPORT_EXAMPLES = """\
examples:
  slapjack import slapjack.backup
  REDIS_URL=redis://localhost:6379/0 slapjack import slapjack.backup
  slapjack import --replace slapjack-2026-11-30.backup"""
VERDICTS = """\
Tell every verdict of a table's last games in words.

Each hand is derived again from the evidence that was kept. Ends with 1 where one comes out
otherwise, or an entry is bad."""
VERDICTS_EXAMPLES = """\
example:
  slapjack verdicts K7WQ2M"""
PEOPLE = """\
List the people on the leaderboard, the most wins first, each with an id; rename or remove one.

Whoever is forgotten loses their name, devices, recovery code, seats and scores as well."""
PEOPLE_EXAMPLES = """\
examples:
  slapjack people
  slapjack people rob
  slapjack people --rename 3f2a9c01b7de Robin
  slapjack people --remove 3f2a9c01b7de"""
DOCTOR = """\
Say what could keep people from playing here, and what to do about it.

Looks at the store, the port, the page, the addresses and the clock. Changes nothing. Ends
with 1 where people cannot play."""
DOCTOR_EXAMPLES = """\
examples:
  slapjack doctor
  SLAPJACK_PORT=8001 slapjack doctor"""

if __name__ == "__main__":
    sys.exit(main())
