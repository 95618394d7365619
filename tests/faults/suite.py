"""Row 20: the store that comes with the game passes the suite that every store passes, kill -9 included."""

import re
import subprocess
import sys
from pathlib import Path

from tests.faults.figure import Figure
from tests.support.serving import ROOT


def row(folder: Path, full: bool) -> Figure:
    """The whole suite on each server; the short form is part of all tests anyway and is not run twice."""
    if not full:
        return Figure(True, "see tests/contracts")
    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"--basetemp={folder / 'suite'}",
            "tests/contracts",
        ],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    passed, failed = (sum(map(int, re.findall(rf"(\d+) {word}", ended.stdout))) for word in ("passed", "failed"))
    return Figure(ended.returncode == 0 and passed > 100, f"{passed} tests passed, {failed} failed, on both servers")
