"""Tables and games as the wire describes them, for tests that only care about a part."""

from collections.abc import Sequence
from typing import Any

from engine.cards import Card
from engine.game import CardTurned, GameView, LandedCard, Seat, SeatView, Status, Wait
from engine.rules import Rules
from wire.messages import Kind, SeatId, Stage, TableSeat, TableView


def a_seat(place: int, **fields: Any) -> TableSeat:
    """The seat with the id `s0`, `s1`, …"""
    plain: dict[str, Any] = {
        "id": SeatId(f"s{place}"),
        "name": f"Player {place}",
        "face": "🙂",
        "kind": Kind.PERSON,
        "place": Seat(place),
        "host": place == 0,
        "away": False,
        "wins": 0,
        "rtt_ms": 20,
    }
    return TableSeat(**{**plain, **fields})


def a_table(seats: int = 2, **fields: Any) -> TableView:
    """A table in the middle of its first game."""
    plain: dict[str, Any] = {
        "code": "K7WQ2M",
        "stage": Stage.PLAYING,
        "game": 1,
        "rules": Rules(),
        "seats": tuple(a_seat(place) for place in range(seats)),
        "watching": 0,
        "locked": False,
        "paused": False,
        "held": False,
        "dealer": SeatId("s0"),
        "winners": (),
        "next_deal_us": 0,
        "asleep": False,
    }
    return TableView(**{**plain, **fields})


def a_game(faces: Sequence[str] = (), seats: int = 2, **fields: Any) -> GameView:
    """A game in which these cards have landed, turned by the seats one after the other."""
    plain: dict[str, Any] = {
        "game": "slapjack",
        "turned": len(faces),
        "seats": tuple(SeatView(cards=26 - nth, status=Status.IN_PLAY) for nth in range(seats)),
        "pile": len(faces),
        "under": 0,
        "landed": tuple(
            LandedCard(nth=nth, face=Card(face), seat=Seat((nth - 1) % seats)) for nth, face in enumerate(faces, 1)
        ),
        "wait": Wait.TURN,
        "turners": (Seat(len(faces) % seats),),
        "answers": (),
    }
    return GameView(**{**plain, **fields})


def turned(nth: int, face: str, seat: int = 0) -> CardTurned:
    """A card has been turned."""
    return CardTurned(seat=Seat(seat), nth=nth, face=Card(face))
