"""How lines of the log look: a sentence for people, or one JSON object each for machines (`SLAPJACK_LOG`).

A line about a table or a connection is said through `about`: it names both in its words, and machines get them as
fields of their own. Must not depend on what else is said; that no secret is in it is up to whoever says it.
"""

import logging
from collections.abc import MutableMapping
from datetime import UTC, datetime
from typing import Any

import msgspec

FIELDS = ("room", "connection")


class About(logging.LoggerAdapter[logging.Logger]):
    """A logger whose lines are all about one table, or one connection to it."""

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """Puts what it is about before the words, and into the record's fields."""
        extra = self.extra or {}
        connection = f", connection {extra['connection']}" if "connection" in extra else ""
        return f"table {extra['room']}{connection}: {msg}", {**kwargs, "extra": extra}


def about(log: logging.Logger, room: str, connection: int | None = None) -> About:
    """`log` for lines about the table of that code, and where given about the connection of that number."""
    return About(log, {"room": room} if connection is None else {"room": room, "connection": connection})


class JsonLines(logging.Formatter):
    """One object a line: `at` (RFC 3339, UTC), `level`, `logger`, `node` where there are several, `room` and
    `connection` where it is about one, `text`, and `trace` where something went wrong that nobody had foreseen."""

    def __init__(self, node: str = "") -> None:
        super().__init__()
        self._node = {"node": node} if node else {}

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            **self._node,
            **{name: record.__dict__[name] for name in FIELDS if name in record.__dict__},
            "text": record.getMessage(),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line).decode()


def log_for_machines(node: str = "") -> None:
    """JSON lines on standard error, also of what is as it should be: a connection that opens or closes, say."""
    lines = logging.StreamHandler()
    lines.setFormatter(JsonLines(node))
    logging.basicConfig(level=logging.WARNING, handlers=[lines], force=True)
    logging.getLogger("slapjack").setLevel(logging.INFO)
