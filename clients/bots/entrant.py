"""One bot at many tables, as a process of its own: `python -m clients.bots.entrant SERVER BOT NAME RULES`.

Each line of its standard input is a table to sit down at: a code, and the number of seats with which to start the
game, 0 where another is the host. It ends when its input does. What goes wrong is told on the standard error.
"""

import asyncio
import signal
import sys
from contextlib import suppress

import msgspec

from clients.bots.files import Play, find_bot
from clients.sdk import NotAtTable, Player, connect
from engine.rules import Rules
from wire.messages import SetRules, Stage


async def enter(server: str, bot: str, name: str, rules: str) -> None:
    """Sits down at every table that it is told, until there is nothing more to be told."""
    chosen = msgspec.json.decode(rules, type=Rules)
    plays = find_bot(bot)
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    tables = set()
    while line := (await lines.readline()).decode():
        code, seats = line.split()
        tables.add(asyncio.create_task(_sit(server, code, name, plays, chosen, int(seats))))
    for table in tables:
        table.cancel()
    await asyncio.gather(*tables, return_exceptions=True)


async def _sit(server: str, code: str, name: str, plays: Play, rules: Rules, seats: int) -> None:
    try:
        async with connect(server, code, name=name, face="🤖") as player:
            starting = asyncio.create_task(_start(player, rules, seats)) if seats else None
            try:
                await plays(player)
                raise RuntimeError("it has stopped playing")
            except Exception as wrong:
                print(f"{name} left a table: {type(wrong).__name__}: {wrong}", file=sys.stderr, flush=True)
            finally:
                player.quit()
                if starting is not None:
                    starting.cancel()
    except NotAtTable as wrong:
        print(f"{name} found no seat: {wrong}", file=sys.stderr, flush=True)


async def _start(player: Player, rules: Rules, seats: int) -> None:
    """Starts the first game as soon as all are seated, and each next one at once."""
    player.say(SetRules(rules))
    with suppress(NotAtTable):
        await player.until(lambda p: len(p.table.seats) == seats)
        while True:
            player.start()
            await player.until(lambda p: p.table.stage is Stage.PLAYING)
            await player.until(lambda p: p.table.stage is Stage.BREAK)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started this, and the input ends then
    asyncio.run(enter(*sys.argv[1:]))
