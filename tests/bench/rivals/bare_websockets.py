"""The workload "table" on bare `websockets` with uvloop, told by its `broadcast`.

python bare_websockets.py PORT
"""

import json
import sys
from collections import defaultdict
from dataclasses import dataclass, field

import uvloop
from websockets.asyncio.server import ServerConnection, broadcast, serve

DECK = [rank + suit for suit in "SHDC" for rank in "A23456789TJQK"]


@dataclass
class Table:
    """Who is there, how many cards lie, and whether the last of them has been slapped."""

    sockets: set[ServerConnection] = field(default_factory=set)
    turned: int = 0
    slapped: bool = True


tables: dict[str, Table] = defaultdict(Table)


async def play(socket: ServerConnection) -> None:
    assert socket.request is not None
    _, _, number, seat = socket.request.path.split("/")
    table = tables[number]
    table.sockets.add(socket)
    async for text in socket:
        message = json.loads(text)
        nth = message["nth"]
        if message["t"] == "turn" and nth == table.turned + 1 and table.slapped:
            table.turned = nth
            face = DECK[nth % 52]
            table.slapped = face[0] != "J"
            broadcast(table.sockets, json.dumps({"t": "card", "nth": nth, "face": face}))
        elif message["t"] == "slap" and nth == table.turned and not table.slapped:
            table.slapped = True
            broadcast(table.sockets, json.dumps({"t": "verdict", "nth": nth, "seat": int(seat)}))
    table.sockets.discard(socket)


async def main() -> None:
    async with serve(play, "127.0.0.1", int(sys.argv[1]), compression=None, backlog=4096) as server:
        await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
