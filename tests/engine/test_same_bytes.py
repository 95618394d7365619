"""Same inputs, same bytes, in any process, and snapshots that carry on where they were made."""

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from engine.cards import full_deck, shuffled
from engine.game import Seat, Step
from engine.rules import PRESETS
from engine.table import AnyGame, deal
from tests.engine.entropy import chances, sensible_move

ROOT = Path(__file__).parents[2]
LONGEST = 400
encode = msgspec.msgpack.encode


def fingerprint(preset: str) -> str:
    """A digest of every state, event and view of one game."""
    rng = chances(f"fingerprint {preset}")
    digest = sha256()
    game = deal(PRESETS[preset].rules, shuffled(full_deck(), next(rng)), 2, Seat(0), (True, False))
    for _ in range(LONGEST):
        entropy = next(rng)
        if game.end is not None:
            break
        step = game.step(sensible_move(game, entropy), entropy)
        digest.update(encode(step))
        if isinstance(step, Step):
            game = msgspec.msgpack.decode(encode(step.game), type=AnyGame)
            assert game == step.game
            digest.update(encode(game.view()))
    return digest.hexdigest()


@pytest.mark.parametrize("seed", ["1", "4242"])
def test_the_same_bytes_whatever_the_hash_seed(seed: str) -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "tests.engine.test_same_bytes"],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert printed.stdout.split() == [fingerprint(preset) for preset in PRESETS]


if __name__ == "__main__":
    sys.stdout.write("\n".join(fingerprint(preset) for preset in PRESETS))
