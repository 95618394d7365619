"""The seats of a table in the order of the circle, who comes and goes, who is in a game, and who is host."""

import base64
from collections.abc import Iterable

import msgspec

from engine.game import Seat
from engine.rules import Rules
from server.base.ports import RandomSource
from server.table.chair import Chair, Guest
from server.table.names import COMPUTER_FACE, COMPUTER_NAMES, clean, clean_face, distinct, plain_name, skeleton
from server.table.records import Computer, SeatRecord
from wire.messages import AddComputer, Join, Kind, SeatId, Sit

HOST_AWAY_US = 30_000_000
"""For how long a host may be away before somebody present takes over (R26)."""


class Seats:
    """The chairs of one table in the order of the circle, and who is host.

    `host_away_us` is since when the host has been away, None while they are here. `rightful_host` is the host whom
    somebody has taken over from, until they are back (R26).
    """

    def __init__(self, seats: Iterable[SeatRecord], host: SeatId | None, random_source: RandomSource) -> None:
        self.chairs = [Chair(seat) for seat in seats]
        self.host = host
        self.rightful_host: SeatId | None = None
        self.host_away_us: int | None = None
        self._random_source = random_source

    # --- who is here ---------------------------------------------------------------------------------------------

    def chair(self, seat: SeatId | None) -> Chair | None:
        """The chair of that name, while somebody has it."""
        return next((chair for chair in self.chairs if chair.id == seat and not chair.gone), None)

    def chair_of(self, key_hash: str) -> Chair | None:
        """The chair of a person, on whichever device."""
        return next((c for c in self.chairs if c.record.key_hash == key_hash and not c.gone), None)

    def own(self, guest: Guest) -> Chair | None:
        """The chair of a guest, on this screen or another."""
        return guest.chair or self.chair_of(guest.key_hash)

    def first_here(self) -> Chair | None:
        """The longest-seated person present (R26), None where every person is away."""
        return next((c for c in self.chairs if c.computer is None and not c.away and not c.gone), None)

    def people(self) -> int:
        """How many people have a seat, away or not."""
        return sum(c.computer is None and not c.gone for c in self.chairs)

    def people_here(self) -> int:
        """How many of them are here."""
        return sum(c.computer is None and not c.away and not c.gone for c in self.chairs)

    def spectates(self, guest: Guest) -> bool:
        """Whether somebody is not in this game, on this screen or another."""
        chair = self.own(guest)
        return chair is None or chair.place is None

    def is_full(self, rules: Rules) -> bool:
        """Whether these rules have no seat left; whoever comes can still watch (R1, R20, R21)."""
        return len(self.chairs) >= rules.seats()[-1]

    def ready(self, rules: Rules) -> bool:
        """Whether the next game may begin: seats enough, and a person to see it (R28)."""
        return len(self.chairs) in rules.seats() and self.first_here() is not None

    def may_claim(self, guest: Guest, seat: SeatId) -> bool:
        """Whether a seat may be given to that guest: nobody else sits there, and they are in no game.

        Whoever is host by now gives no seat to themselves.
        """
        chair, own = self.chair(seat), self.own(guest)
        is_host = own is not None and own.id == self.host
        return chair is not None and not chair.connected and self.spectates(guest) and not is_host

    # --- who comes and goes --------------------------------------------------------------------------------------

    def seat_person(self, wish: Join | Sit, key_hash: str, rules: Rules) -> Chair:
        """A new chair for somebody; the first person at a table is its host. Raises `BadName`."""
        name, face = self.own_name(wish.name), clean_face(wish.face)
        program = isinstance(wish, Join) and wish.program
        made_up = self._plain_name() if rules.plain_names else ""
        chair = Chair(SeatRecord(self._new_id(), name, face, Kind.PERSON, key_hash, made_up=made_up, program=program))
        self.chairs.append(chair)
        if self.host is None:
            self.host = chair.id
        return chair

    def own_name(self, wish: str, chair: Chair | None = None) -> str:
        """That name as it can stand beside the others, for that chair or a new one. Raises `BadName`."""
        return distinct(clean(wish), [c.record.name for c in self.chairs if c is not chair and not c.gone])

    def seat_computer(self, wanted: AddComputer) -> None:
        """A new chair for a computer player (R31)."""
        taken = {skeleton(chair.record.name) for chair in self.chairs}
        name = next(name for name in COMPUTER_NAMES if skeleton(name) not in taken)
        plays = Computer(wanted.reaction_ms, wanted.spread_ms, wanted.slip_percent)
        self.chairs.append(Chair(SeatRecord(self._new_id(), name, COMPUTER_FACE, Kind.COMPUTER, computer=plays)))

    def name_plainly(self) -> None:
        """Gives every person a made-up name beside their own; whoever has had one keeps it."""
        for chair in self.chairs:
            if chair.computer is None and not chair.record.made_up:
                chair.record = msgspec.structs.replace(chair.record, made_up=self._plain_name())

    def let_go(self, chair: Chair) -> None:
        """Nobody has that chair any more (R25); if it was the host's, another person is host."""
        chair.gone = True
        chair.conn = None
        if self.rightful_host == chair.id:
            self.rightful_host = None
        if self.host == chair.id:
            people = sorted((c for c in self.chairs if c.computer is None and not c.gone), key=lambda c: c.away)
            self.host = self.rightful_host or (people[0].id if people else None)
            self.rightful_host = None

    def drop(self, chair: Chair) -> None:
        """Takes that chair away; in a game, only where it has no place in it."""
        self.chairs = [c for c in self.chairs if c is not chair]

    def _new_id(self) -> SeatId:
        return SeatId(base64.b32encode(self._random_source.draw()[:5]).decode().lower())

    def _plain_name(self) -> str:
        taken = {chair.record.made_up or chair.record.name for chair in self.chairs}
        picks = (plain_name(int.from_bytes(self._random_source.draw()[:4])) for _ in iter(int, 1))
        return next(name for name in picks if name not in taken)

    # --- who is in a game ----------------------------------------------------------------------------------------

    def resume(self, dealt: Iterable[SeatRecord]) -> tuple[Chair, ...]:
        """Gives those who were dealt in their places again; who has left since then has none but the place."""
        kept = {chair.id: chair for chair in self.chairs}
        players = [kept.pop(seat.id) if seat.id in kept else Chair(seat, gone=True) for seat in dealt]
        self.chairs = [*players, *kept.values()]
        for place, chair in enumerate(players):
            chair.place = Seat(place)
        return tuple(players)

    def deal_in(self) -> None:
        """A game begins: everybody has a place in it."""
        self._clear_away()
        for place, chair in enumerate(self.chairs):
            chair.place = Seat(place)
            chair.silent_turns = 0
            chair.reactions_us = []
            chair.moves = 0
            chair.wrong = 0

    def deal_out(self) -> None:
        """The game is over: nobody has a place."""
        self._clear_away()
        for chair in self.chairs:
            chair.place = None

    def _clear_away(self) -> None:
        self.chairs = [chair for chair in self.chairs if not chair.gone]

    # --- the host ------------------------------------------------------------------------------------------------

    def look_for_host(self, at_us: int) -> None:
        """Notes since when the host has been away."""
        host = self.chair(self.host)
        if host is None or not host.away:
            self.host_away_us = None
        elif self.host_away_us is None:
            self.host_away_us = at_us

    def handover_us(self) -> int | None:
        """When the host has been away for so long that somebody present takes over (R26)."""
        if self.host_away_us is None or self.first_here() is None:
            return None
        return self.host_away_us + HOST_AWAY_US

    def pass_host(self) -> None:
        """Has somebody present take over (R26)."""
        heir = self.first_here()
        assert heir is not None
        self.rightful_host = self.rightful_host or self.host
        self.host = heir.id
        self.host_away_us = None

    def came(self, chair: Chair) -> None:
        """Somebody is here again; a host takes the table back from whoever has taken over."""
        if chair.id == self.rightful_host:
            self.host, self.rightful_host = chair.id, None
