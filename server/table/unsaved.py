"""What has changed at a table since it was last kept, gathered into changes that are kept all of them or not at all."""

from server.table.journal import AnyEntry, Dealt, write_entry
from server.table.mail import Keep
from server.table.outbox import Outbox
from server.table.records import Change, Result, TableRecord


class Unsaved:
    """Entries for the journal, a result, and whether the record is another than the one that is kept."""

    def __init__(self, saved: TableRecord, outbox: Outbox) -> None:
        self._saved = saved
        self._outbox = outbox
        self.entries: list[AnyEntry] = []
        self._result: Result | None = None

    def journal(self, *entries: AnyEntry) -> None:
        """These are to be kept of the game."""
        self.entries += entries

    def count(self, result: Result) -> None:
        """This is to be counted on the leaderboard."""
        self._result = result

    def close(self, record: TableRecord | None = None) -> None:
        """Makes one change of what there is. Without a `record` the table is as it was kept."""
        changed = record if record is not None and record != self._saved else None
        if changed is None and not self.entries and self._result is None:
            return
        before, self._saved = self._saved, changed or self._saved
        scored = changed is not None and (changed.scores, changed.archive) != (before.scores, before.archive)
        entries = tuple(write_entry(entry) for entry in self.entries)
        deals = bool(self.entries) and isinstance(self.entries[0], Dealt)
        self._outbox.keeps.append(Keep(Change(changed, entries, deals, self._result, scored=scored)))
        self.entries, self._result = [], None
