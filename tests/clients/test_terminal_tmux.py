"""The terminal client in a real terminal of 80×24: what stands on its screen, its bell, and how it ends.

Waits for conditions on another process's screen. The screens are kept with the test's other output.
"""

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from clients.sdk import Player, connect, create_table
from engine.rules import Rules
from tests.clients.jacks_soon import EARLY
from tests.support.serving import ROOT, Served
from tests.support.terminal import Tmux
from wire.messages import Remove, SetRules, Stage

OUTPUT = ROOT / "test-output" / "terminal"
HOSTILE = "Eve \x1b[2J\x1b]0;owned\x07[red]"


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    terminal = Tmux(tmp_path, 80, 24)
    yield terminal
    terminal.ask("kill-server")


async def test_a_game_in_a_terminal(jacks_soon: Served, tmux: Tmux) -> None:
    """Joins by the link, turns with Enter, slaps with Space, is removed: a line, and exit code 1."""
    code = await create_table(jacks_soon.url)
    async with connect(jacks_soon.url, code, name=HOSTILE) as eve:
        eve.say(SetRules(Rules(min_show_ms=300, card_limit=EARLY + 1)))
        tmux.run("play", f"{jacks_soon.url}/t/{code}", "--name", "Robin", "--guest")
        await eve.until(lambda p: len(p.table.seats) == 2)
        # In threads, so that the client here goes on answering its pings.
        assert "Eve [2J]0;owned[red]" in await asyncio.to_thread(tmux.reads, "starts the game.")
        tmux.keep(OUTPUT / "lobby.ansi")
        tmux.look_away()
        eve.start()
        await eve.until(lambda p: p.view)
        while eve.top is None or not eve.top.face.startswith("J"):
            assert eve.view is not None
            if eve.my_turn:
                eve.turn()
            else:
                await asyncio.to_thread(tmux.press, "Enter")
            await eve.until(partial(_has_turned, eve.view.turned + 1))
        await asyncio.to_thread(tmux.reads, "JACK")
        tmux.keep(OUTPUT / "jack.ansi")
        assert tmux.has_rung()
        await asyncio.to_thread(tmux.press, "Space")
        await eve.until(lambda p: p.table.stage is Stage.BREAK)
        screen = await asyncio.to_thread(tmux.reads, "Photo finish")
        tmux.keep(OUTPUT / "between.ansi")
        assert "You win the game!" in screen
        eve.say(Remove(eve.table.seats[1].id))
        screen = await asyncio.to_thread(tmux.reads, "exit=1")
        assert "slapjack: the host has removed you from this table" in screen


def _has_turned(cards: int, player: Player) -> bool:
    return player.view is not None and player.view.turned >= cards


@pytest.mark.parametrize(
    ("columns", "lines", "words", "line"),
    [
        (79, 24, ("play",), "slapjack: a table needs a terminal of 80×24, and this one has 79×24"),
        (80, 24, ("play", "222222", "--name", "Robin"), "slapjack: there is no table with this code"),
        (80, 24, ("play", "http://127.0.0.1:9/t/K7WQ2M", "--name", "Robin"), "slapjack: no Slapjack server answers"),
        (80, 24, ("play", "a/b"), "slapjack: 'a/b' is neither a code nor a link"),
    ],
)
def test_what_cannot_be_played_is_said_in_a_line(
    jacks_soon: Served, tmp_path: Path, columns: int, lines: int, words: tuple[str, ...], line: str
) -> None:
    terminal = Tmux(tmp_path, columns, lines)
    try:
        terminal.run(*words, "--guest", "--server", jacks_soon.url)
        screen = terminal.reads("exit=1")
        assert line in screen.replace("\n", "")
    finally:
        terminal.ask("kill-server")


def test_q_ends_it_in_peace(jacks_soon: Served, tmux: Tmux) -> None:
    tmux.run("play", "--guest", "--server", jacks_soon.url)
    tmux.reads("Your name")
    tmux.keep(OUTPUT / "home.ansi")
    tmux.press("C-c")
    tmux.reads("exit=0")
