"""Who plays at this terminal: a name, a face, and for each server the key that is the way back to one's seats and wins.

In one file that nobody else may read (XDG Base Directory Specification: state). What cannot be read or written is as
if nothing had been kept, for one can play without.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec

FACE = "🙂"


class Kept(msgspec.Struct):
    """`keys` are by the address of the server."""

    name: str = ""
    face: str = FACE
    keys: dict[str, str] = {}


def file_for(environ: Mapping[str, str]) -> Path:
    """Where it is kept."""
    state = environ.get("XDG_STATE_HOME") or Path(environ.get("HOME") or Path.home()) / ".local" / "state"
    return Path(state) / "slapjack" / "terminal.json"


def read(file: Path | None) -> Kept:
    """What is kept there; without a file, or a readable one, a newcomer."""
    with suppress(OSError, msgspec.MsgspecError):
        if file is not None:
            return msgspec.json.decode(file.read_bytes(), type=Kept)
    return Kept()


def write(file: Path | None, kept: Kept) -> None:
    """Keeps it, all of it or, where that is impossible, nothing."""
    if file is None:
        return
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with NamedTemporaryFile(dir=file.parent, delete=False) as new:
            new.write(msgspec.json.encode(kept))
        Path(new.name).replace(file)
