"""What the command `slapjack` does beside serving: back-ups, moving, and looking a table's verdicts over.

Knows a store that is open and files. Says what it did line by line to whoever listens; starts nothing.
"""

from collections.abc import Callable
from pathlib import Path

from server.store.backup import Copied, export, new_file
from server.store.redis import RedisStore
from server.store.restore import CannotImport, NotEmpty, restore
from server.table.verdicts import findings
from wire.codes import read_code

Say = Callable[[str], None]


class Failed(Exception):
    """It cannot be done; the text says why in one line."""


async def export_to(store: RedisStore, file: Path, say: Say) -> None:
    """`slapjack export FILE`: all that is kept, into a new file. Raises `CannotExport` and `StoreDown`."""
    with new_file(file) as out:
        copied = await export(store.pipeline, store.board, out)
        size = out.tell()
    say(f"Exported {_counted(copied)} to {file}, {size / 1e6:.1f} MB.")
    for key in copied.left:
        say(f"Left out, for it is none of ours: {key}.")


async def import_from(store: RedisStore, file: Path, replace: bool, say: Say) -> None:
    """`slapjack import FILE`: all that a file has, into the store. Raises `Failed`, `CannotImport` and `StoreDown`."""
    try:
        with file.open("rb") as kept:
            copied = await restore(store.pipeline, store.board, kept, replace=replace)
    except OSError as wrong:
        raise Failed(f"cannot read {file}: {wrong.strerror}") from None
    except CannotImport as wrong:
        way = ". With --replace they go, and those of the file come" if isinstance(wrong, NotEmpty) else ""
        raise Failed(f"{file} is not imported: {wrong}{way}") from None
    say(f"Imported {_counted(copied)} from {file}.")


async def tell_verdicts(store: RedisStore, typed: str, say: Say) -> bool:
    """`slapjack verdicts CODE`: a table's last games; whether all is as it should be. Raises `Failed`."""
    code = read_code(typed)
    if code is None or await store.load_table(code) is None:
        raise Failed(f"there is no table with the code {typed[:20]!r}")
    found = list(findings(await store.journal(code)))
    for finding in found:
        say(finding.text)
    wrong = sum(not finding.good for finding in found)
    if not found:
        say(f"Nothing is kept of the games at {code}.")
    else:
        say("All is as it was judged." if not wrong else f"{wrong} of these lines must not be so.")
    return not wrong


def _counted(copied: Copied) -> str:
    return f"{copied.tables} table{'' if copied.tables == 1 else 's'} and all scores"
