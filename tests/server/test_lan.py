"""Which of a machine's addresses phones are told, the likeliest first; on made-up interfaces and in real networks."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import ifaddr
import pytest

from server.base.settings import BadSetting, read_settings
from server.web import lan
from server.web.lan import Kind, near_addresses, near_names, other_origins, why_not_near

ROOT = Path(__file__).parents[2]
REAL_NAME = lan._local_name


def interface(name: str, *addresses: str) -> ifaddr.Adapter:
    """An interface with these addresses."""
    ips = [ifaddr.IP((ip, 0, 0) if ":" in ip else ip, 64 if ":" in ip else 24, name) for ip in addresses]
    return ifaddr.Adapter(name, name, ips)


@pytest.fixture(autouse=True)
def no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lan, "_local_name", lambda: "")


@pytest.mark.parametrize(
    ("interfaces", "chosen", "expected"),
    [
        ([interface("lo", "127.0.0.1", "::1")], None, []),
        ([interface("wlan0", "192.168.1.20", "fe80::1", "fd00::5")], "192.168.1.20", ["192.168.1.20"]),
        # A laptop that is the hotspot has no default route.
        ([interface("ap0", "10.42.0.1")], None, ["10.42.0.1"]),
        # With a VPN as the default route the phones are still at home.
        ([interface("tun0", "10.8.0.2"), interface("en0", "192.168.0.7")], "10.8.0.2", ["192.168.0.7", "10.8.0.2"]),
        (
            [interface("utun4", "100.96.1.2"), interface("en0", "172.20.10.2")],
            "100.96.1.2",
            ["172.20.10.2", "100.96.1.2"],
        ),
        ([interface("eth0", "100.101.1.2")], "100.101.1.2", ["100.101.1.2"]),
        # Bridges to containers lead no phone anywhere.
        ([interface("docker0", "172.17.0.1"), interface("eth0", "10.0.0.4")], "10.0.0.4", ["10.0.0.4"]),
        ([interface("vEthernet (WSL)", "172.22.0.1"), interface("Wi-Fi", "192.168.1.3")], None, ["192.168.1.3"]),
        # Two networks: first the one that leads to the internet.
        (
            [interface("eth0", "10.0.0.4"), interface("wlan0", "192.168.1.3")],
            "192.168.1.3",
            ["192.168.1.3", "10.0.0.4"],
        ),
        ([interface("eth0", "169.254.3.4"), interface("wlan0", "192.168.1.3")], None, ["192.168.1.3", "169.254.3.4"]),
        # IPv6 where there is nothing else.
        ([interface("eth0", "2001:db8::5", "fe80::2")], None, ["[2001:db8::5]"]),
    ],
)
def test_the_likeliest_address_comes_first(
    interfaces: list[ifaddr.Adapter], chosen: str | None, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ifaddr, "get_adapters", lambda: interfaces)
    monkeypatch.setattr(lan, "_default_route", lambda: chosen)
    assert [near.host for near in near_addresses()] == expected
    assert near_names(80) == [f"http://{host}" for host in expected]


def test_a_vpn_is_called_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ifaddr, "get_adapters", lambda: [interface("wg0", "10.7.0.1"), interface("eth0", "8.8.4.4")])
    monkeypatch.setattr(lan, "_default_route", lambda: None)
    assert [near.kind for near in near_addresses()] == [Kind.PUBLIC, Kind.TUNNEL]


def test_the_machines_name_is_offered_where_it_resolves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ifaddr, "get_adapters", lambda: [interface("eth0", "192.168.1.3")])
    monkeypatch.setattr(lan, "_local_name", lambda: "attic.local")
    assert near_names(8000) == ["http://192.168.1.3:8000", "http://attic.local:8000"]
    assert other_origins("http://192.168.1.3:8000", "") == ["http://attic.local:8000"]
    assert other_origins("http://192.168.1.3:8000", "https://cards.example") == []
    assert other_origins("https://elsewhere.example", "") == []


def test_a_server_that_listens_on_one_address_names_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ifaddr, "get_adapters", lambda: [interface("eth0", "192.168.1.3", "192.168.7.3")])
    assert near_names(8000, "192.168.7.3") == ["http://192.168.7.3:8000"]
    assert near_names(80, "fd00::2") == ["http://[fd00::2]"]
    assert other_origins("http://192.168.7.3:8000", "", "192.168.7.3") == []


def test_strangers_have_the_name_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each question may hold a thread for as long as a resolver is silent."""
    asked: list[str] = []
    monkeypatch.setattr(lan, "_local_name", REAL_NAME)
    monkeypatch.setattr(ifaddr, "get_adapters", lambda: [interface("eth0", "192.168.1.3")])

    def resolve(name: str, *_: object) -> list[object]:
        asked.append(name)
        return []

    monkeypatch.setattr("socket.getaddrinfo", resolve)
    REAL_NAME.cache_clear()
    try:
        for _ in range(100):
            other_origins("http://192.168.1.3:8000", "")
    finally:
        REAL_NAME.cache_clear()
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("sign", "what"), [("/.dockerenv", "container"), ("/proc/version", "WSL"), ("", "on no network")]
)
def test_what_keeps_phones_away_is_said(sign: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = tmp_path / "version"
    version.write_text("Linux version 6.6 (Microsoft@WSL2)" if sign == "/proc/version" else "Linux version 6.6")
    monkeypatch.setattr(lan, "_KERNEL", version)
    monkeypatch.setattr(lan, "_CONTAINERS", (version,) if sign == "/.dockerenv" else ())
    monkeypatch.setattr(ifaddr, "get_adapters", list)
    assert what in why_not_near()


@contextmanager
def network(name: str) -> Iterator[list[str]]:
    """A network of its own; gives what runs a command in it."""
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        yield ["ip", "netns", "exec", name]
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="networks of one's own are root's on Linux")
def test_a_hotspot_without_a_way_out(tmp_path: Path) -> None:
    """In a real network: an interface with an address, and no default route."""
    with network(f"lan{os.getpid()}") as inside:
        for line in (
            "link add ap0 type veth peer name ap1",
            "addr add 10.42.0.1/24 dev ap0",
            "link set ap0 up",
            "link set ap1 up",
            "link add docker0 type veth peer name docker1",
            "addr add 172.17.0.1/16 dev docker0",
            "link set docker0 up",
        ):
            subprocess.run([*inside, "ip", *line.split()], check=True)
        said = subprocess.run(
            [*inside, sys.executable, "-c", "from server.web.lan import near_names; print(near_names(8000))"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    assert said == "['http://10.42.0.1:8000']\n"


# --- the address that is set -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "origin"),
    [
        ("https://Schläger.example/", "https://xn--schlger-8wa.example"),
        ("https://straße.example", "https://xn--strae-oqa.example"),
        ("https://例え.テスト:8443", "https://xn--r8jz45g.xn--zckzah:8443"),
        ("http://192.168.1.20:80", "http://192.168.1.20"),
        ("http://[FD00::2]:8000", "http://[fd00::2]:8000"),
        ("http://my_box:8000", "http://my_box:8000"),
        ("https://cards.example:443", "https://cards.example"),
    ],
)
def test_a_public_address_is_what_a_browser_calls_it(typed: str, origin: str) -> None:
    assert read_settings({"SLAPJACK_PUBLIC_URL": typed, "HOME": "/"}).public_url == origin


@pytest.mark.parametrize(
    "typed",
    [
        *(
            "https://*.x",
            "http://<x>",
            "http://a b",
            "http://",
            "ftp://x",
            "https://x/cards",
            "https://x?y",
            "http://1.2.3",
        ),
        *("http://999.1.1.1", "http://x:0", "http://user@x", "https://.x", "https://" + "x" * 64, "http://x..y"),
    ],
)
def test_nonsense_is_refused_in_one_line(typed: str) -> None:
    with pytest.raises(BadSetting, match="but must be an address such as") as said:
        read_settings({"SLAPJACK_PUBLIC_URL": typed, "HOME": "/"})
    assert "\n" not in str(said.value)


@pytest.mark.parametrize(("typed", "host"), [("192.168.1.20", "192.168.1.20"), ("[::1]", "::1"), ("::", "::")])
def test_an_address_to_listen_on(typed: str, host: str) -> None:
    assert read_settings({"SLAPJACK_HOST": typed, "HOME": "/"}).host == host
    with pytest.raises(BadSetting, match="SLAPJACK_HOST is 'wlan0', but must be an address of this machine"):
        read_settings({"SLAPJACK_HOST": "wlan0", "HOME": "/"})
