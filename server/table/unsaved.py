"""What has changed at a table since it was last kept, gathered into changes that are kept all of them or not at all."""

from collections.abc import Collection

from server.table.journal import AnyEntry, Dealt, write_entry
from server.table.mail import Keep
from server.table.outbox import Outbox
from server.table.records import Change, Renamed, Result, TableRecord

MOST_GAME_BYTES = 2 * 1024 * 1024
"""What the journal of one game may come to: ten times that of a long game of ten. Then the game is counted (R12)."""


class Unsaved:
    """Entries for the journal, a result, and whether the record is another than the one that is kept.

    `game_bytes` is what the journal of the running game comes to.
    """

    def __init__(self, saved: TableRecord, outbox: Outbox) -> None:
        self._saved = saved
        self._outbox = outbox
        self.entries: list[AnyEntry] = []
        self.game_bytes = 0
        self._result: Result | None = None
        self._dealt: set[str] = set()

    def journal(self, *entries: AnyEntry) -> None:
        """These are to be kept of the game."""
        self.entries += entries

    def count(self, result: Result) -> None:
        """This is to be counted on the leaderboard."""
        self._result = result

    def close(self, record: TableRecord | None = None, dealt: Collection[str] = ()) -> None:
        """Makes one change of what there is. Without a `record` the table is as it was kept.

        `dealt` are the people who are in the running game, be they still here or not.
        """
        changed = record if record is not None and record != self._saved else None
        if changed is None and not self.entries and self._result is None:
            return
        before, self._saved = self._saved, changed or self._saved
        self._dealt |= set(dealt)
        left = () if changed is None else tuple(_people(before) - _people(changed) - self._dealt)
        scored = changed is not None and (changed.scores, changed.archive) != (before.scores, before.archive)
        entries = tuple(write_entry(entry) for entry in self.entries)
        deals = bool(self.entries) and isinstance(self.entries[0], Dealt)
        self.game_bytes = sum(map(len, entries)) + (0 if deals else self.game_bytes)
        renamed = _renamed(before, changed)
        change = Change(changed, entries, deals, self._result, scored=scored, left=left, renamed=renamed)
        self._outbox.keeps.append(Keep(change))
        self.entries, self._result = [], None


def _renamed(before: TableRecord, now: TableRecord | None) -> tuple[Renamed, ...]:
    """Who is seen under another name or face than before, where the leaderboard has this table's people (R30)."""
    if now is None or not now.ranked or (before.seats, before.rules) == (now.seats, now.rules):
        return ()
    known = _shown(before)
    return tuple(person for key, person in _shown(now).items() if key in known and known[key] != person)


def _shown(record: TableRecord) -> dict[str, Renamed]:
    plain = record.rules.plain_names
    return {s.key_hash: Renamed(s.key_hash, s.shown_name(plain), s.face) for s in record.seats if s.key_hash}


def _people(record: TableRecord) -> set[str]:
    """Everybody whom a record names, by the hash of their secret, and computer players by their seats."""
    scored = (record.scores, *(ended.scores for ended in record.archive))
    seated = {seat.key_hash for seat in record.seats if seat.key_hash}
    return seated.union((removed.key_hash for removed in record.removed), *scored)
