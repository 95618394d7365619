"""docker-compose.yml and what stands beside it, as far as can be seen without containers."""

import re
import shutil
import subprocess

import pytest

from tests.support.serving import ROOT
from tools.cluster import CONFIG, NODES


def resolved(*arguments: str, **environ: str) -> dict[str, str]:
    """What Docker Compose makes of the file: the text of each service by its name."""
    compose = ["docker-compose"] if shutil.which("docker-compose") else ["docker", "compose"]
    read = subprocess.run(
        [*compose, *arguments, "config"],
        cwd=ROOT,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert read.returncode == 0, read.stderr
    services = re.search(r"^services:\n((?:  .*\n)+)", read.stdout, re.MULTILINE)
    assert services is not None
    return dict(re.findall(r"^  (\w+):\n((?:   .*\n)+)", services[1], re.MULTILINE))


@pytest.fixture(scope="module")
def services() -> dict[str, str]:
    return resolved("--profile", "https")


def test_the_proxy_has_every_node_and_no_other(services: dict[str, str]) -> None:
    nodes = [name for name, text in services.items() if "SLAPJACK_NODE" in text]
    assert tuple(sorted(nodes)) == NODES
    for name in nodes:
        assert f"SLAPJACK_NODE: {name}\n" in services[name]
    assert re.findall(r"^    server (\w+) .*-(\w+):8000}", CONFIG.read_text(), re.MULTILINE) == [(n, n) for n in NODES]


def test_nothing_may_do_more_than_it_must(services: dict[str, str]) -> None:
    assert {"proxy", "redis", "https", *NODES} == set(services)
    for name, text in services.items():
        assert "read_only: true" in text, name
        assert re.search(r"cap_drop:\n +- ALL\n", text), name
        assert "no-new-privileges:true" in text, name
        assert "restart: unless-stopped" in text, name
        assert "privileged: true" not in text, name


def test_none_may_take_the_machine_with_it(services: dict[str, str]) -> None:
    for name, text in services.items():
        assert re.search(r"mem_limit: \"?\d+", text), name
        assert "pids_limit: " in text and "max-size: 10m" in text and re.search(r"max-file: .?3", text), name
    assert "noeviction" in services["redis"], "a store that is full says so, and forgets nothing"


def test_what_others_have_built_is_pinned(services: dict[str, str]) -> None:
    """By digest, or by hash: a name alone is whatever somebody makes of it tomorrow."""
    images = {name: re.search(r"^    image: (.*)$", text, re.MULTILINE) for name, text in services.items()}
    for name in ("proxy", "redis", "https"):
        image = images[name]
        assert image and re.fullmatch(r"[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}", image[1]), name
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert len(re.findall(r"^FROM python:[\w.-]+@sha256:[0-9a-f]{64}\b", dockerfile, re.MULTILINE)) == 2
    for line in re.findall(r"pip (?:--python \S+ )?(?:install|wheel) .*", dockerfile):
        assert "--require-hashes" in line or "--no-deps" in line, line
    assert "--no-build-isolation" in dockerfile, "else pip fetches what builds the wheel, whatever it is today"
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", used) for used in re.findall(r"uses: (\S+)", workflow))
    assert workflow.count("digest: sha256:") == 2


def test_only_the_proxy_is_to_be_reached(services: dict[str, str]) -> None:
    """Whoever reached a node could say where they come from."""
    assert {name for name, text in services.items() if "ports:" in text} == {"proxy", "https"}
    for name in ("redis", *NODES):
        assert re.search(r"networks:\n +inside: (null|\{\})\n", services[name]), name
        assert "outside" not in services[name], name


def test_the_store_keeps_what_it_acknowledges(services: dict[str, str]) -> None:
    command = re.sub(r"[\s\"'-]+", " ", services["redis"])
    assert "appendonly yes appendfsync always" in command
    assert "scores" in services["redis"]


def test_https_takes_the_address_that_people_use() -> None:
    with_domain = resolved("--profile", "https", SLAPJACK_PUBLIC_URL="https://cards.example")
    assert re.search(r"--from\n +- https://cards.example\n +- --to\n +- proxy:8001\n", with_domain["https"])
    for name in NODES:
        assert "SLAPJACK_PUBLIC_URL: https://cards.example\n" in with_domain[name]


def test_the_image_runs_as_nobody_in_particular() -> None:
    last = (ROOT / "Dockerfile").read_text().rpartition("\nFROM ")[2]
    assert "\nUSER slapjack\n" in last
    assert last.index("\nUSER slapjack\n") < last.index("\nCMD ")
    assert "HEALTHCHECK" in last
    assert "STOPSIGNAL SIGTERM" in last
