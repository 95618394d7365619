"""A real terminal of its own, by tmux: what is typed in it, and what stands on its screen."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from tests.support.serving import ROOT, wait_for


class Tmux:
    """A terminal of its own, with a shell in it that ends by telling the exit code."""

    def __init__(self, folder: Path, columns: int, lines: int) -> None:
        self._socket = str(folder / "tmux.sock")
        self._size = ("-x", str(columns), "-y", str(lines))
        # Tests that run side by side are told a width, which is not this terminal's.
        inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        self._environ = {**inherited, "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}

    def ask(self, *words: str) -> str:
        asked = ("tmux", "-S", self._socket, "-f", "/dev/null", *words)
        told = subprocess.run(asked, capture_output=True, env=self._environ, timeout=30, check=False)
        return told.stdout.decode(errors="replace")

    def run(self, *words: str) -> None:
        """Runs the command `slapjack` in it."""
        command = shlex.join((sys.executable, "-m", "clients.command", *words))
        self.ask("new-session", "-d", "-s", "table", *self._size, f"cd {ROOT}; {command}; echo exit=$?; cat")

    def press(self, *keys: str) -> None:
        self.ask("send-keys", "-t", "table:0", *keys)

    def screen(self) -> str:
        return self.ask("capture-pane", "-p", "-t", "table:0")

    def reads(self, text: str) -> str:
        """The screen, once that stands on it."""
        try:
            wait_for(lambda: text in self.screen(), f"{text!r} on the screen")
        except AssertionError:
            raise AssertionError(f"{text!r} is not on the screen:\n{self.screen()}") from None
        return self.screen()

    def look_away(self) -> None:
        """Has another window in front, so that a bell is noted."""
        self.ask("set-option", "-g", "bell-action", "any")
        self.ask("new-window", "-t", "table:9", "cat")

    def has_rung(self) -> bool:
        """Whether the bell has rung since."""
        return self.ask("display-message", "-p", "-t", "table:0", "#{window_bell_flag}").strip() == "1"

    def picture(self) -> str:
        """The screen with its colours, as a terminal is sent them."""
        return self.ask("capture-pane", "-p", "-e", "-t", "table:0")

    def keep(self, file: Path) -> None:
        """Keeps the picture, to be looked at."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.picture(), encoding="utf-8")
