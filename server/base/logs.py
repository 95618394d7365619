"""How lines of the log look: a sentence for people, or one JSON object each for machines (`SLAPJACK_LOG`).

A line about a table or a connection names it in its words, as `room K7WQ2M` and `connection 12`, and machines get both
as fields of their own. Knows nothing else of what is said; that no secret is in it is up to whoever says it.
"""

import logging
import re
from datetime import UTC, datetime

import msgspec

ABOUT = (
    ("room", str, re.compile(r"\b(?:room|table) ([2-9A-HJ-NP-Z]{6})\b")),
    ("connection", int, re.compile(r"\bconnection (\d+)\b")),
)


class JsonLines(logging.Formatter):
    """One object a line: `at` (RFC 3339, UTC), `level`, `logger`, `node` where there are several, `room` and
    `connection` where it is about one, `text`, and `trace` where something went wrong that nobody had foreseen."""

    def __init__(self, node: str = "") -> None:
        super().__init__()
        self._node = {"node": node} if node else {}

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        text = record.getMessage()
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            **self._node,
            **{name: kind(found[1]) for name, kind, pattern in ABOUT if (found := pattern.search(text)) is not None},
            "text": text,
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
