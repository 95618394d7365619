"""Where phones on the same network can reach this machine, the likeliest address first.

Reads the machine's interfaces and sends nothing. Whether a phone gets through (another network, a firewall, a guest
Wi-Fi) only a phone can tell, so nothing here claims it.
"""

import ipaddress
import re
import socket
import threading
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple

import ifaddr

_THIS_MACHINE = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(:\d+)?", re.IGNORECASE)
_TUNNEL = re.compile(
    r"tun|tap|wg|utun|ppp|ipsec|tailscale|zt|nordlynx|proton|.*(?:VPN|Tunnel|WireGuard|Tailscale)", re.I
)
_VIRTUAL = re.compile(r"docker|br-|veth|virbr|vmnet|vboxnet|lxc|lxd|cni|flannel|podman|.*(?:Hyper-V|vEthernet)", re.I)
_NAME_TIMEOUT_S = 0.3
"""A machine without mDNS may ask the internet for a `.local` name; the start does not wait for that."""

_KERNEL = Path("/proc/version")
_CONTAINERS = (Path("/.dockerenv"), Path("/run/.containerenv"))


class Kind(IntEnum):
    """What a phone would have to be on to use an address; the likeliest first."""

    HOME = 1
    """A private address, as routers give them (RFC 1918, RFC 4193)."""
    PUBLIC = 2
    TUNNEL = 3
    """A VPN: only for whoever is in it as well."""
    LINK = 4
    """An address that a machine gives itself when nobody else does (RFC 3927)."""


class Near(NamedTuple):
    """One address of this machine that a phone could use, as it stands in a URL."""

    host: str
    kind: Kind


def near_addresses() -> list[Near]:
    """Every address by which a phone could reach this machine, the likeliest first; empty without a network.

    Addresses of the machine's own bridges to containers and virtual machines are left out. IPv6 stands in only where
    there is no IPv4: people have to be able to type it.
    """
    found: list[tuple[tuple[int, bool], Near]] = []
    chosen = _default_route()
    for adapter in ifaddr.get_adapters():
        if _VIRTUAL.match(adapter.nice_name):
            continue
        for each in adapter.ips:
            ip = ipaddress.ip_address(each.ip[0] if isinstance(each.ip, tuple) else each.ip)
            if ip.is_loopback or ip.is_unspecified or (ip.version == 6 and ip.is_link_local):
                continue
            kind = _kind(ip, adapter.nice_name)
            host = f"[{ip}]" if ip.version == 6 else str(ip)
            found.append(((kind, str(ip) != chosen), Near(host, kind)))
    usable = [each for each in found if each[1].host[0] != "["] or found
    return [near for _, near in sorted(usable, key=lambda each: each[0])]


def near_names(port: int, listening: str = "") -> list[str]:
    """The origins that phones near this machine could open, the likeliest first, `NAME.local` where it resolves.

    Where the server is `listening` on one address alone, it is that one.
    """
    if listening:
        hosts = [f"[{listening}]" if ":" in listening else listening]
    else:
        hosts = [near.host for near in near_addresses()]
        if hosts and (name := _local_name()):
            hosts.insert(1, name)
    return [f"http://{host}{'' if port == 80 else f':{port}'}" for host in hosts]


def why_not_near() -> str:
    """Why no phone may get through to these addresses, as far as can be seen from inside; empty if nothing is seen."""
    if any(sign.exists() for sign in _CONTAINERS):
        return "this is a container: set SLAPJACK_PUBLIC_URL to the address of the computer it runs on"
    if _KERNEL.is_file() and "microsoft" in _KERNEL.read_text(errors="replace").lower():
        return "this is WSL: have Windows pass the port on, and set SLAPJACK_PUBLIC_URL to the address of Windows"
    return "" if near_addresses() else "this machine is on no network: join the one the phones are on"


def invite_origin(host: str, scheme: str, public_url: str) -> str:
    """The origin that an invitation should name, when the page was asked for at `host`.

    That is the public one where there is one, and else what the asking browser used; but `localhost` means another
    machine on every phone, so there it is this machine's address on its network.
    """
    if public_url:
        return public_url
    if (here := _THIS_MACHINE.fullmatch(host)) is not None and (near := near_addresses()):
        return f"{scheme}://{near[0].host}{here[1] or ''}"
    return f"{scheme}://{host}"


def other_origins(origin: str, public_url: str, listening: str = "") -> list[str]:
    """What else a phone near this machine could try where `origin` does not open; nothing with a public address."""
    scheme, _, place = origin.partition("://")
    _, colon, port = place.rpartition(":") if not place.endswith("]") else (place, "", "")
    if public_url or scheme != "http":
        return []
    names = near_names(int(port) if colon and port.isdigit() else 80, listening)
    return [other for other in names if other != origin]


def _kind(ip: ipaddress.IPv4Address | ipaddress.IPv6Address, adapter: str) -> Kind:
    if _TUNNEL.match(adapter) or (ip.version == 4 and ip in _CARRIER):
        return Kind.TUNNEL
    if ip.is_link_local:
        return Kind.LINK
    return Kind.HOME if ip.is_private else Kind.PUBLIC


_CARRIER = ipaddress.ip_network("100.64.0.0/10")
"""Shared address space (RFC 6598), which VPNs between friends use."""


def _default_route() -> str | None:
    """The address that the default route leaves from; None without one, as on a laptop that is the hotspot."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Choosing a peer makes the kernel choose the interface; the address is reserved for examples (RFC 5737).
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        address: str = probe.getsockname()[0]
    return address


@cache
def _local_name() -> str:
    """`NAME.local` where this machine's own resolver knows it (RFC 6762), else empty.

    Asked once: an answer may take longer than anybody waits, and strangers must not be able to have it asked again.
    """
    name = f"{socket.gethostname().partition('.')[0].lower()}.local"
    found: list[str] = []

    def ask() -> None:
        try:
            found.extend(str(info[4][0]) for info in socket.getaddrinfo(name, None, socket.AF_INET))
        except (OSError, UnicodeError):
            return

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_NAME_TIMEOUT_S)
    return name if any(not ipaddress.ip_address(ip).is_loopback for ip in found) else ""
