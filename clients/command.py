"""The command `slapjack`: the server's own commands, and those of the clients, on one command line.

Knows what may be said and which function does it. Errors become one plain line here: exit code 1 where something could
not be done, 2 where the command line made no sense, 130 after Ctrl-C.
"""

import argparse
import asyncio
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from io import TextIOWrapper
from itertools import cycle, islice

import msgspec
import shtab

from clients.address import server_at, table_at
from clients.bots import POLICIES, BadBot, Play, find_bot
from clients.bots.files import bot_name
from clients.bots.tournament import compete, distinct, in_columns
from clients.sdk import NotAtTable, connect
from clients.words import counted, inert, why_not
from engine.rules import PRESETS, JudgeOf
from server.__main__ import Commands, carry_out, command_line

DEFAULT_SERVER = "http://localhost:8000"
BOT_FACE = "🤖"
MOST_BOTS = 9
SMALLEST = 80, 24
"""Columns and lines that a table needs."""

EXAMPLES = """\
examples:
  slapjack                         start the server
  slapjack play K7WQ2M             sit down at a table, in this terminal
  slapjack bots K7WQ2M --seats 3   give it company
  slapjack doctor                  find out why nobody gets in"""

_NAMES = " ".join(POLICIES)
A_BOT = {
    **shtab.FILE,
    "bash": "_slapjack_bot_files",
    "zsh": "_slapjack_bot_files",
    "preamble": {
        "bash": f'_slapjack_bot_files() {{ compgen -W "{_NAMES}" -- "$1"; compgen -f -- "$1"; }}',
        "zsh": f"_slapjack_bot_files() {{ _alternative 'policies:policy:({_NAMES})' 'files:bot file:_files' }}",
    },
}
"""How a shell completes a bot: our names, and files. What has `_file` in its name, shtab's bash takes for files."""


class Trouble(Exception):
    """It cannot be done; the text says why in one line."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Does what the command line says, and returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # better a question mark than no help at all
    told = whole_command_line().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = getattr(told, "run", carry_out)
    try:
        return run(told)
    except (Trouble, BadBot) as wrong:
        return _trouble(str(wrong))
    except NotAtTable as wrong:
        return _trouble(why_not(wrong))
    except KeyboardInterrupt:
        return 130


def whole_command_line() -> argparse.ArgumentParser:
    """All that may be said: the server's commands and the clients'."""
    parser, commands = command_line()
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = f"{EXAMPLES}\n\n{parser.epilog}"
    shtab.add_argument_to(
        parser,
        "--print-completion",
        help='print what makes your shell complete this command; try: eval "$(slapjack --print-completion bash)"',
    )
    for add in (_play, _bot, _bots, _tournament):
        add(commands)
    return parser


def _trouble(line: str) -> int:
    print(f"slapjack: {line}", file=sys.stderr)
    return 1


def _add(
    commands: Commands, name: str, run: Callable[[argparse.Namespace], int], help_: str, what: str, examples: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=help_, description=what, epilog=examples, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.set_defaults(run=run)
    return parser


def _ask_for_server(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--server",
        metavar="URL",
        default=os.environ.get("SLAPJACK_SERVER") or DEFAULT_SERVER,
        help="the server's address (%(default)s); SLAPJACK_SERVER sets another",
    )


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} to {most}")
        return int(text)

    return read


def _must_have_terminal() -> None:
    """Raises `Trouble` where a table cannot be drawn."""
    if find_spec("textual") is None:
        raise Trouble("playing in a terminal needs Textual: pip install 'slapjack[terminal]'")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Trouble("a table needs a terminal, and this is none")
    if os.environ.get("TERM", "dumb") == "dumb":
        raise Trouble("a table needs a terminal that is drawn on, and TERM says that this one is not")
    columns, lines = shutil.get_terminal_size()
    if columns < SMALLEST[0] or lines < SMALLEST[1]:
        raise Trouble(f"a table needs a terminal of {SMALLEST[0]}×{SMALLEST[1]}, and this one has {columns}×{lines}")


def _play(commands: Commands) -> None:
    def run(told: argparse.Namespace) -> int:
        _must_have_terminal()
        from clients.terminal.app import Slapjack
        from clients.terminal.kept import file_for

        server, code = server_at(told.server), ""
        if told.code:
            server, code = table_at(told.code, server)
        app = Slapjack(server, code, told.name, told.watch, None if told.guest else file_for(os.environ))
        _when_stopped(lambda: app.call_later(app.exit))
        app.run()
        if app.ended_by is not None:
            raise app.ended_by
        return app.return_code or 0

    parser = _add(
        commands,
        "play",
        run,
        "play in this terminal",
        "Play in this terminal, or watch: Space slaps, Enter turns, C calls.\n\n"
        "Without a code you choose on the first screen. 80×24 are enough, and colour is never\n"
        "needed (NO_COLOR).\n\n"
        "Your reaction is measured where this program runs. Over ssh that is the other machine:\n"
        "the way of the card to your screen and of your key back counts as yours. For an even\n"
        "fight install slapjack where you sit, and play by the link.",
        "examples:\n  slapjack play\n  slapjack play K7WQ2M --name Robin\n"
        "  slapjack play http://192.168.1.20:8000/t/K7WQ2M --watch",
    )
    parser.add_argument(
        "code", nargs="?", default="", metavar="CODE", help="a table's code, or the link that invites you"
    )
    parser.add_argument("--name", default="", help="what you are called; remembered")
    _ask_for_server(parser)
    parser.add_argument("--watch", action="store_true", help="take no seat")
    parser.add_argument(
        "--guest", action="store_true", help="remember nothing, and be nobody who is remembered; to quit is to leave"
    )


def _bot(commands: Commands) -> None:
    def run(told: argparse.Namespace) -> int:
        name = told.name or bot_name(told.policy)
        return _seat(told, {name: find_bot(told.policy)})

    parser = _add(
        commands,
        "bot",
        run,
        "seat a computer player at a table",
        "Seat a computer player at a table, until Ctrl-C: one of ours, or one that you wrote.\n\n"
        + "\n".join(f"  {name:8} {policy.sentence}" for name, policy in POLICIES.items()),
        "examples:\n  slapjack bot K7WQ2M\n  slapjack bot K7WQ2M --policy sharp --name Flash\n"
        "  slapjack bot K7WQ2M --policy robin.py",
    )
    parser.add_argument("code", metavar="CODE", help="the table's code, or the link that invites people")
    _ask_for_server(parser)
    policy = parser.add_argument("--policy", default="steady", help="steady, learner, nervous, sharp or a Python file")
    policy.complete = A_BOT  # type: ignore[attr-defined]
    parser.add_argument("--name", default="", help="what it is called (its policy)")


def _bots(commands: Commands) -> None:
    def run(told: argparse.Namespace) -> int:
        policies = list(islice(cycle(told.policy or POLICIES), told.seats))
        names = distinct([bot_name(policy) for policy in policies])
        return _seat(told, {name: find_bot(policy) for name, policy in zip(names, policies, strict=True)})

    parser = _add(
        commands,
        "bots",
        run,
        "seat several of them",
        "Seat several computer players at a table, until Ctrl-C.\n\n"
        "Each is of another temper unless --policy says which, one after the other.",
        "examples:\n  slapjack bots K7WQ2M --seats 3\n  slapjack bots K7WQ2M --seats 4 --policy sharp --policy nervous",
    )
    parser.add_argument("code", metavar="CODE", help="the table's code, or the link that invites people")
    _ask_for_server(parser)
    parser.add_argument("--seats", type=_whole(1, MOST_BOTS), default=3, metavar="N", help="how many (%(default)s)")
    policy = parser.add_argument("--policy", action="append", help="steady, learner, nervous, sharp or a Python file")
    policy.complete = A_BOT  # type: ignore[attr-defined]


def _tournament(commands: Commands) -> None:
    def run(told: argparse.Namespace) -> int:
        if len(told.bots) not in PRESETS[told.preset].rules.seats():
            parser.error(f"{PRESETS[told.preset].name} is not for {len(told.bots)} bots")
        preset = PRESETS[told.preset]
        rules = msgspec.structs.replace(
            preset.rules, min_show_ms=300, card_limit=told.cards, plain_names=False, judge=JudgeOf.DEALER
        )
        server = server_at(told.server) if told.server else ""
        lines = asyncio.run(compete(told.bots, rules, told.games, told.tables, server, _progress(told.games)))
        played = lines[0].games
        print(
            f"{counted(played, 'game')} of {preset.name}, by count after {counted(told.cards, 'card')}, "
            f"at {counted(told.tables, 'table')}\n"
        )
        print(in_columns(lines))
        if played < told.games:
            raise Trouble(f"only {played} of {told.games} games could be played to their end")
        return 0

    parser = _add(
        commands,
        "tournament",
        run,
        "find out which bot is the best",
        "Have bots play each other at many tables, and see which one is the best.\n\n"
        "Starts a server for it, and prints who won how many games, with the interval in which\n"
        "the true share lies.",
        "examples:\n  slapjack tournament sharp steady nervous learner\n"
        "  slapjack tournament sharp robin.py --games 400 --tables 40",
    )
    parser.add_argument("--server", metavar="URL", default="", help="play on this one (a server of its own)")
    bots = parser.add_argument(
        "bots", nargs="+", metavar="BOT", help="steady, learner, nervous, sharp or a Python file"
    )
    bots.complete = A_BOT  # type: ignore[attr-defined]
    parser.add_argument(
        "--games", type=_whole(1, 100_000), default=100, metavar="N", help="how many games (%(default)s)"
    )
    parser.add_argument("--tables", type=_whole(1, 500), default=20, metavar="N", help="so many at once (%(default)s)")
    parser.add_argument(
        "--cards", type=_whole(1, 10_000), default=120, metavar="N", help="a game ends after so many (%(default)s)"
    )
    parser.add_argument("--preset", choices=list(PRESETS), default="standard", help="the kind of game (%(default)s)")


def _progress(games: int) -> Callable[[int], None]:
    def told(over: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{over} of {games} games", end="\n" if over == games else "", file=sys.stderr, flush=True)

    return told


def _seat(told: argparse.Namespace, bots: dict[str, Play]) -> int:
    server, code = table_at(told.code, server_at(told.server))
    with suppress(asyncio.CancelledError):
        asyncio.run(_seat_all(server, code, bots))
    return 0


async def _seat_all(server: str, code: str, bots: dict[str, Play]) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    _when_stopped(lambda: loop.call_soon_threadsafe(task.cancel))
    try:
        async with asyncio.TaskGroup() as seats:
            for name, plays in bots.items():
                seats.create_task(_sit(server, code, name, plays))
    except BaseExceptionGroup as wrong:
        raise wrong.exceptions[0] from None


def _when_stopped(do: Callable[[], object]) -> None:
    """Has that done in place of ending on the spot, so that no seat stays behind."""
    for name in ("SIGTERM", "SIGHUP"):
        stop = getattr(signal, name, None)
        if stop is not None and signal.getsignal(stop) is signal.SIG_DFL:  # nohup wants it ignored
            signal.signal(stop, lambda *_: do())


async def _sit(server: str, code: str, name: str, plays: Play) -> None:
    async with connect(server, code, name=name, face=BOT_FACE) as player:
        print(f"{inert(name)} sits at table {player.table.code}. Ctrl-C has it leave.", flush=True)
        try:
            await plays(player)
        except NotAtTable:
            raise
        except Exception as wrong:
            traceback.print_exc()
            raise Trouble(f"{name} broke down: {type(wrong).__name__}: {wrong}") from None
        finally:
            player.quit()


if __name__ == "__main__":
    sys.exit(main())
