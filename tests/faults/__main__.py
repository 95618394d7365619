"""`make faults`: the promises about what goes wrong, each put to the test, one line each.

    python -m tests.faults [--short] [ROW ...]

A line is `row N ok` or `row N SHORT` and the figure. Ends with 1 when a promise is not kept.
"""

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from tests.faults import (
    asked,
    attacked,
    deployed,
    dropped,
    failover,
    fuzzed,
    games,
    guessing,
    hidden,
    idle,
    killed,
    readers,
    results,
    silent,
    sleepers,
    soak,
    stalled,
    standard,
    strangers,
    suite,
    woken,
    worlds,
)
from tests.faults.figure import Figure

ROWS: dict[int, Callable[[Path, bool], Figure]] = {
    1: killed.server_row,
    2: woken.row,
    3: killed.store_row,
    4: stalled.row,
    5: results.row,
    6: deployed.row,
    7: asked.row,
    8: readers.row,
    9: idle.row,
    10: dropped.row,
    11: hidden.row,
    12: games.row,
    13: worlds.row,
    14: fuzzed.row,
    15: standard.row,
    16: silent.row,
    17: guessing.row,
    18: strangers.row,
    19: soak.row,
    20: suite.row,
    21: sleepers.row,
    22: attacked.stages_row,
    23: attacked.files_row,
    24: attacked.party_row,
    25: failover.row,
}


def tried(number: int, *, full: bool) -> Figure:
    """Puts one promise to the test; what breaks the test itself is no kept promise."""
    with tempfile.TemporaryDirectory(prefix="slapjack-faults-", ignore_cleanup_errors=True) as folder:
        try:
            return ROWS[number](Path(folder), full)
        except Exception as wrong:
            traceback.print_exc()
            return Figure(False, f"{type(wrong).__name__}: {wrong}")


def main() -> int:
    """Prints a line for each row."""
    options = argparse.ArgumentParser(prog="python -m tests.faults", description="Put the promises to the test.")
    options.add_argument("rows", nargs="*", type=int, choices=[[], *ROWS], metavar="ROW", help="all when left out")
    options.add_argument("--short", action="store_true", help="as in the tests, in seconds")
    chosen = options.parse_args()
    all_kept = True
    for number in chosen.rows or ROWS:
        began_s = time.monotonic()
        figure = tried(number, full=not chosen.short)
        took_s = time.monotonic() - began_s
        print(f"row {number} {'ok' if figure.kept else 'SHORT'} {figure.text} ({took_s:.0f} s)", flush=True)
        all_kept &= figure.kept
    return 0 if all_kept else 1


if __name__ == "__main__":
    sys.exit(main())
