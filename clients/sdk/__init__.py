"""A seat at a Slapjack table for Python programs: connect, see what a person sees, turn and slap.

    async with connect("http://localhost:8000", code, name="Robin") as player:
        async for event in player:
            if player.top and player.top.face.startswith("J"):
                player.slap()
            elif player.my_turn:
                player.turn()

The wire is described in docs/protocol.md. `Session` is the same without a socket.
"""

from clients.sdk.clock import Exchange, RoomClock
from clients.sdk.errors import (
    BadFrame,
    ForeignOrigin,
    JoinRefused,
    NoSuchTable,
    NotAtTable,
    NotNow,
    Removed,
    ServerGone,
    TakenOver,
    TooMany,
    WrongVersion,
)
from clients.sdk.player import Clock, Monotonic, Player, connect, create_table
from clients.sdk.session import GONE, ClientEvent, Lost, Resumed, Session
from clients.sdk.sight import is_slap_card, shows_afresh

__all__ = [
    "GONE",
    "BadFrame",
    "ClientEvent",
    "Clock",
    "Exchange",
    "ForeignOrigin",
    "JoinRefused",
    "Lost",
    "Monotonic",
    "NoSuchTable",
    "NotAtTable",
    "NotNow",
    "Player",
    "Removed",
    "Resumed",
    "RoomClock",
    "ServerGone",
    "Session",
    "TakenOver",
    "TooMany",
    "WrongVersion",
    "connect",
    "create_table",
    "is_slap_card",
    "shows_afresh",
]
