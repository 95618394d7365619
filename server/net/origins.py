"""Whether a browser's request comes from our own page, as far as its headers say. Knows headers and nothing else."""

import ipaddress
import re
import socket
from collections.abc import Mapping

LOCAL = (
    *(".local", ".localhost", ".localdomain", ".home.arpa", ".internal", ".intranet", ".private", ".corp", ".home"),
    *(".lan", ".fritz.box"),
)
"""What names end in that a network gives its own machines (RFC 6761, 6762 appendix G, 8375); nobody can buy them."""
_PORT = re.compile(r":\d+$")


def right_origin(origin: str | None, host: str | None, public_url: str) -> bool:
    """Whether a browser's request comes from our own page (RFC 6454). What is no browser sends no origin."""
    if origin is None:
        return True
    # Not read as an address is, for much that somebody may send is none; an origin has no other parts (RFC 6454, 6.1).
    named = origin.lower().partition("://")[2]
    ours = named == (host or "").lower() and right_host(host, public_url)
    return bool(named) and (origin.lower() == public_url or ours)


def right_host(host: str | None, public_url: str) -> bool:
    """Whether somebody may have meant this server by that name, where it is not said which it has.

    An address or a name of the local network, that is: any other may be a page's elsewhere that has its name lead here,
    and is then of one origin with us (DNS rebinding). What sends none is no browser.
    """
    if public_url or not host:
        return True
    name = _PORT.sub("", host.lower()).rstrip(".")
    if re.fullmatch(r"[a-z0-9_-]+", name) or name.endswith(LOCAL) or name == socket.gethostname().lower():
        return True
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def from_another_page(headers: Mapping[str, str]) -> bool:
    """Whether a browser says that a page elsewhere makes it ask, for a picture say (Fetch Metadata)."""
    return headers.get("sec-fetch-site", "none") not in ("same-origin", "none")


def from_a_program(headers: Mapping[str, str]) -> bool:
    """Whether it is no page that asks, nor a picture on one; over plain HTTP browsers only say that they are one."""
    if "sec-fetch-site" in headers:
        return headers["sec-fetch-site"] == "none"
    return not headers.get("user-agent", "").startswith("Mozilla/")
