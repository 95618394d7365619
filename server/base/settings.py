"""Every switch of a running server, read from the environment once. Reads nothing later and acts on nothing."""

import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints
from urllib.parse import urlsplit

import idna
from platformdirs import user_data_path

from server.base.store_address import store_address


class BadSetting(ValueError):
    """A setting that cannot be used; the text is one line that names the variable and says what it may be."""


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 12 and least <= int(text) <= most):
            raise ValueError(f"a whole number from {least} to {most}")
        return int(text)

    return read


def _folder(text: str) -> Path:
    try:
        folder = Path(text).expanduser()
    except RuntimeError:  # ~ of nobody
        folder = Path("\0")
    if "\0" in str(folder):
        raise ValueError("a folder")
    return folder.absolute()


_LABEL = re.compile(r"[a-z0-9_-]{1,63}")


def _host(name: str) -> str:
    """A host as browsers write it in an origin: lower case, international names in ASCII (UTS 46); `ValueError`."""
    if ":" in name or name.replace(".", "").isdigit():
        ip = ipaddress.ip_address(name)
        return f"[{ip}]" if ip.version == 6 else str(ip)
    labels = name.rstrip(".").split(".")
    return ".".join(each if _LABEL.fullmatch(each) else idna.encode(each, uts46=True).decode() for each in labels)


def _public_url(text: str) -> str:
    wrong = ValueError("an address such as https://slapjack.example, without a path: a name or a number")
    try:
        parts = urlsplit(text)
        if parts.port == 0:
            raise wrong
    except ValueError:
        raise wrong from None
    plain = parts.path in ("", "/") and not (parts.query or parts.fragment or "@" in parts.netloc)
    if parts.scheme not in ("http", "https") or not parts.hostname or not plain or any(map(str.isspace, text)):
        raise wrong
    # As a browser writes an origin (RFC 6454, 6.1), for it is compared with one.
    usual_port = 443 if parts.scheme == "https" else 80
    try:
        host = _host(parts.hostname)
    except ValueError:  # idna's errors among them
        raise wrong from None
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port not in (None, usual_port) else "")


def _listening_address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text.strip("[]")))
    except ValueError:
        raise ValueError("an address of this machine, such as 192.168.1.20 or ::1") from None


Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def _networks(text: str) -> tuple[Network, ...]:
    try:
        return tuple(ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip())
    except ValueError:
        raise ValueError("addresses or networks with commas between, such as 127.0.0.1,10.0.0.0/8") from None


def node_name(text: str) -> str:
    """The name of a server among others; raises `ValueError`."""
    if re.fullmatch(r"[a-z0-9-]{1,32}", text) is None:
        raise ValueError("1 to 32 of a-z, 0-9 and -, such as node-1")
    return text


Fsync = Literal["everysec", "always"]
Log = Literal["text", "json"]
YesNo = Literal["no", "yes"]


def _one_of(choices: Any) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in get_args(choices):
            raise ValueError(" or ".join(get_args(choices)))
        return text

    return read


def default_data_folder() -> Path:
    """Where this kind of machine keeps a person's data (XDG Base Directory Specification; Library on macOS)."""
    return user_data_path("slapjack", appauthor=False)


@dataclass(frozen=True)
class Variable:
    """Where a setting comes from, and what reads it; `read` raises `ValueError` with what the text must be."""

    name: str
    read: Callable[[str], Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """The settings of one server; each is read from the variable named beside it.

    The limits suit a server at home: ten phones and a television share one address, and nobody can fill the memory.
    """

    port: Annotated[int, Variable("SLAPJACK_PORT", _whole(0, 65535))] = 8000
    """The port to listen on; 0 takes any that is free."""
    host: Annotated[str, Variable("SLAPJACK_HOST", _listening_address)] = ""
    """The one address of this machine to listen on; empty for all."""
    data: Annotated[Path, Variable("SLAPJACK_DATA", _folder)]
    """The folder of the server's own store; unused with `redis_url`."""
    redis_url: Annotated[str, Variable("REDIS_URL", store_address)] = ""
    """The store to use instead of the server's own; empty for its own."""
    public_url: Annotated[str, Variable("SLAPJACK_PUBLIC_URL", _public_url)] = ""
    """The origin under which people elsewhere reach the server, such as `https://slapjack.example`; empty at home."""
    trusted_proxies: Annotated[tuple[Network, ...], Variable("SLAPJACK_TRUSTED_PROXIES", _networks)] = ()
    """Whose `X-Forwarded-For` is believed."""
    fsync: Annotated[Fsync, Variable("SLAPJACK_FSYNC", _one_of(Fsync))] = "everysec"
    """How the server's own store writes: `everysec` may lose two seconds to a power cut, `always` none."""

    node: Annotated[str, Variable("SLAPJACK_NODE", node_name)] = ""
    """The name of this server among several over one Redis; empty for a server alone."""

    log: Annotated[Log, Variable("SLAPJACK_LOG", _one_of(Log))] = "text"
    """Whether the log is for people, who read what is wrong, or for machines, which get everything as JSON lines."""

    keep_days: Annotated[int, Variable("SLAPJACK_KEEP_DAYS", _whole(1, 36_500))] = 365
    """For how long a table, a person and a score are kept after they were last of use."""
    keep_journal_days: Annotated[int, Variable("SLAPJACK_KEEP_JOURNAL_DAYS", _whole(1, 36_500))] = 30
    """For how long a table's last games are kept, a game that was broken off among them."""

    rank_programs: Annotated[YesNo, Variable("SLAPJACK_RANK_PROGRAMS", _one_of(YesNo))] = "no"
    """Whether the leaderboard counts programs among people (R30)."""

    max_tables: Annotated[int, Variable("SLAPJACK_MAX_TABLES", _whole(1, 100_000))] = 1_000
    """Tables awake at once."""
    max_tables_per_address: Annotated[int, Variable("SLAPJACK_MAX_TABLES_PER_ADDRESS", _whole(1, 100_000))] = 100
    """Tables awake at once for one address, which never has more than half of all."""
    max_spectators: Annotated[int, Variable("SLAPJACK_MAX_SPECTATORS", _whole(0, 10_000))] = 200
    """People watching one table."""
    max_connections: Annotated[int, Variable("SLAPJACK_MAX_CONNECTIONS", _whole(1, 100_000))] = 4_000
    """Sockets in all."""
    max_connections_per_address: Annotated[
        int, Variable("SLAPJACK_MAX_CONNECTIONS_PER_ADDRESS", _whole(1, 100_000))
    ] = 100
    """Sockets from one address."""
    tables_per_minute: Annotated[int, Variable("SLAPJACK_TABLES_PER_MINUTE", _whole(1, 100_000))] = 20
    """New tables from one address in a minute."""
    tables_per_s: Annotated[int, Variable("SLAPJACK_TABLES_PER_S", _whole(1, 100_000))] = 5
    """New tables from everywhere in a second, over a minute."""
    asks_per_minute: Annotated[int, Variable("SLAPJACK_ASKS_PER_MINUTE", _whole(1, 100_000))] = 120
    """Questions about people and scores from one address in a minute."""
    misses_per_minute: Annotated[int, Variable("SLAPJACK_MISSES_PER_MINUTE", _whole(1, 100_000))] = 10
    """Wrong codes from one address in a minute."""
    misses_per_s: Annotated[int, Variable("SLAPJACK_MISSES_PER_S", _whole(1, 100_000))] = 10
    """Wrong codes from everywhere in a second."""
    requests_per_s: Annotated[int, Variable("SLAPJACK_REQUESTS_PER_S", _whole(1, 100_000))] = 100
    """Requests, and sockets opened, from one address in a second, over time."""
    request_burst: Annotated[int, Variable("SLAPJACK_REQUEST_BURST", _whole(1, 100_000))] = 1_000
    """Requests, and sockets opened, from one address at once."""
    messages_per_s: Annotated[int, Variable("SLAPJACK_MESSAGES_PER_S", _whole(1, 10_000))] = 30
    """Frames from one socket in a second, over time."""
    message_burst: Annotated[int, Variable("SLAPJACK_MESSAGE_BURST", _whole(1, 10_000))] = 60
    """Frames from one socket at once."""
    outbox_bytes: Annotated[int, Variable("SLAPJACK_OUTBOX_BYTES", _whole(16 * 1024, 16 * 1024 * 1024))] = 256 * 1024
    """What may wait for one socket before it is cut."""
    join_timeout_s: Annotated[int, Variable("SLAPJACK_JOIN_TIMEOUT_S", _whole(1, 600))] = 7
    """How long a connection may take to send its request, and a socket to say who it is."""


def read_settings(environ: Mapping[str, str]) -> Settings:
    """The settings in the environment, the rest at their defaults; raises `BadSetting`. An empty variable is unset."""
    found: dict[str, Any] = {"data": default_data_folder()}
    for name, hint in get_type_hints(Settings, include_extras=True).items():
        variable: Variable = hint.__metadata__[0]
        text = environ.get(variable.name, "").strip()
        if not text:
            continue
        try:
            found[name] = variable.read(text)
        except ValueError as wrong:
            raise BadSetting(f"{variable.name} is {_shown(variable, text)}, but must be {wrong}") from None
    return Settings(**found)


def _shown(variable: Variable, text: str) -> str:
    # The address of a store may hold a password, and this line ends up in logs.
    return "set" if variable.name == "REDIS_URL" else repr(text[:60])
