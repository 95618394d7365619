"""`slapjack export`, `import` and `verdicts` as a person types them, with the server running and without."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest

from clients.sdk import create_table
from server.store.embedded import EmbeddedStore
from server.store.redis import RedisStore
from server.table.journal import Judged, read_entry
from server.table.records import Change, TableRecord
from tests.server.test_verdicts import contested
from tests.server.world import CODE, Table
from tests.support.serving import PLAIN, ROOT, TIMEOUT_S, Served, served


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder in which a store has been."""
    folder = tmp_path / "data"
    with_store(folder, lambda store: kept(store, contested()))
    return folder


def with_store(folder: Path, act: Callable[[RedisStore], Coroutine[None, None, None]]) -> None:
    """Does something with the store in a folder."""

    async def run() -> None:
        async with RedisStore(server.url) as store:
            await act(store)

    server = EmbeddedStore(folder, fsync="everysec")
    try:
        asyncio.run(run())
    finally:
        server.stop()


async def kept(store: RedisStore, journal: list[bytes]) -> None:
    """A table with this journal."""
    await store.create_table(TableRecord(CODE, Table().saved.rules, games=1))
    opened = await store.open_table(CODE)
    assert opened is not None
    await store.keep(CODE, opened.epoch, 1, Change(entries=tuple(journal), deals=True))


def slapjack(data: Path, *arguments: str | Path, **settings: str) -> tuple[int, str, str]:
    """Types a command; gives how it ended, and what it said on the one stream and the other."""
    ended = subprocess.run(
        [sys.executable, "-m", "server", *map(str, arguments)],
        cwd=ROOT,
        env={**PLAIN, "SLAPJACK_DATA": str(data), **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    return ended.returncode, ended.stdout, ended.stderr


def test_a_back_up_is_made_and_put_into_another_place(data: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "all.backup", tmp_path / "other"
    code, said, wrong = slapjack(data, "export", file)
    assert (code, wrong) == (0, "")
    assert said == f"Exported 1 table and all scores to {file}, 0.0 MB.\n"
    code, said, wrong = slapjack(other, "import", file)
    assert (code, wrong) == (0, "")
    assert said == f"Imported 1 table and all scores from {file}.\n"
    assert slapjack(other, "verdicts", CODE)[1] == slapjack(data, "verdicts", CODE)[1]
    code, said, wrong = slapjack(other, "import", file)
    assert (code, said) == (1, "")
    assert wrong == (
        f"slapjack: {file} is not imported: there are tables and scores already: nothing was changed. "
        "With --replace they go, and those of the file come\n"
    )
    assert slapjack(other, "import", "--replace", file)[0] == 0


def test_a_back_up_is_made_while_the_server_runs(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        asyncio.run(_table(server))
        code, said, wrong = slapjack(tmp_path / "data", "export", tmp_path / "all.backup")
        assert (code, wrong) == (0, "")
        assert said.startswith("Exported 1 table and all scores")


async def _table(server: Served) -> None:
    await create_table(server.url)


def test_verdicts_are_told_and_each_stands(data: Path) -> None:
    code, said, wrong = slapjack(data, "verdicts", CODE.lower())
    assert (code, wrong) == (0, "")
    lines = said.splitlines()
    assert lines[0] == "Game 1, slapjack: Anna, Ben, Cleo"
    assert lines[1].endswith("OK")
    assert lines[-1] == "All is as it was judged."


def test_a_verdict_that_does_not_stand_ends_with_1(tmp_path: Path) -> None:
    def changed(entry: bytes) -> bytes:
        return entry[:-1] + b"?" if isinstance(read_entry(entry), Judged) else entry

    with_store(tmp_path / "data", lambda store: kept(store, list(map(changed, contested()))))
    code, said, wrong = slapjack(tmp_path / "data", "verdicts", CODE)
    assert (code, wrong) == (1, "")
    assert "is bad: the check sum does not fit" in said
    assert said.endswith("1 of these lines must not be so.\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("verdicts", "K7WQ2N"), "there is no table with the code 'K7WQ2N'"),
        (("verdicts", "nonsense"), "there is no table with the code 'nonsense'"),
        (("import", "/nowhere/at.all"), "cannot read /nowhere/at.all: No such file or directory"),
        (("export", "/nowhere/at.all"), "cannot write /nowhere/at.all: No such file or directory"),
        (("export", "{data}"), "{data} is there already: name another file"),
        (("import", "{data}/store.log"), "{data}/store.log is not imported: no export of ours: nothing was changed"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(data: Path, arguments: tuple[str, ...], told: str) -> None:
    code, said, wrong = slapjack(data, *(argument.format(data=data) for argument in arguments))
    assert (code, said, wrong) == (1, "", f"slapjack: {told.format(data=data)}\n")


def test_a_folder_without_a_store_is_not_made_one_by_looking(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    for arguments in (("verdicts", CODE), ("export", tmp_path / "all.backup")):
        code, said, wrong = slapjack(nowhere, *arguments)
        assert (code, said) == (1, "")
        assert wrong.startswith(f"slapjack: there is nothing in {nowhere}: ")
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_not_there_is_said_in_one_line(tmp_path: Path) -> None:
    code, said, wrong = slapjack(tmp_path, "export", tmp_path / "all.backup", REDIS_URL=f"unix://{tmp_path}/no.sock")
    assert (code, said) == (1, "")
    assert wrong.startswith("slapjack: the store at unix:")
    assert "does not answer" in wrong
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["export", "import", "verdicts"])
def test_every_command_shows_how_it_is_used(tmp_path: Path, command: str) -> None:
    code, said, _ = slapjack(tmp_path, command, "--help")
    assert code == 0
    assert f"slapjack {command}" in said[said.index("example") :]


@pytest.mark.parametrize("arguments", [("shuffle",), ("export",), ("verdicts",), ("import", "--force", "file")])
def test_what_is_no_command_is_said_to(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    code, said, wrong = slapjack(tmp_path, *arguments)
    assert (code, said) == (2, "")
    assert "usage: slapjack" in wrong
