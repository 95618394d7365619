"""`make audit` says so when it could ask nobody: silence is no good news."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.serving import ROOT

NONE = "No known vulnerabilities found"
SKIPPED = f"{NONE}\nanyio  Dependency not found on PyPI and could not be audited: anyio (4.0)"


def audited(folder: Path, pip_audit: str, npm: str) -> str:
    """What it says last, where these two say so."""
    programs = folder / "build" / "audit" / "bin"
    programs.mkdir(parents=True)
    (folder / "clients" / "web").mkdir(parents=True)
    for name, said in (("pip-audit", pip_audit), ("npm", npm)):
        (programs / name).write_text(f"#!/bin/sh\ncat <<'SAID'\n{said}\nSAID\nexit 1\n")
        (programs / name).chmod(0o755)
    environ = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    ran = subprocess.run(
        ["sh", str(ROOT / "tools" / "audit.sh"), "python"], cwd=folder, env=environ, capture_output=True, text=True
    )
    assert ran.returncode == 0, "it is advice"
    return ran.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("pip_audit", "npm", "unasked"),
    [
        (NONE, "found 0 vulnerabilities", ""),
        ("Found 2 known vulnerabilities in 1 package", "3 high severity vulnerabilities", ""),
        ("connection refused", "found 0 vulnerabilities", "play.txt"),
        (SKIPPED, "found 0 vulnerabilities", "build.txt"),
        (NONE, "npm error audit endpoint returned an error", "package-lock.json"),
        ("", "", "node.txt"),
    ],
)
def test_it_says_what_nobody_could_be_asked_about(tmp_path: Path, pip_audit: str, npm: str, unasked: str) -> None:
    said = audited(tmp_path, pip_audit, npm)
    assert ("NOBODY COULD BE ASKED" in said) is bool(unasked)
    assert unasked in said
