"""What is to leave a table: changes to be kept, then messages and hang-ups in order, then pings."""

from server.table.mail import ConnId, Effect, Keep, Ping


class Outbox:
    """Filled while one input is taken in, and emptied after it.

    `keeps` come first: kept, then told. `to_ping` is in order; a phone that comes late to several pings is sent one.
    """

    def __init__(self) -> None:
        self.keeps: list[Keep] = []
        self.effects: list[Effect] = []
        self.to_ping: dict[ConnId, None] = {}

    def take(self) -> list[Effect]:
        """All of it, handed over."""
        effects: list[Effect] = [*self.keeps, *self.effects] if self.keeps else self.effects
        if self.to_ping:
            effects.append(Ping(tuple(self.to_ping)))
            self.to_ping.clear()
        self.keeps, self.effects = [], []
        return effects
