# mypy: ignore-errors
"""The workload "table" on picows with uvloop, with as little Python as it takes: the limit for a server in Python.

python raw_picows.py PORT [asking]

"asking" it says as much besides as our server does when it is busy: pings, and what the room's clock says; and it hears
the answers, of which it thinks nothing. This is the limit for what we have to say.
"""

import asyncio
import json
import sys
from collections import defaultdict
from dataclasses import dataclass, field

import uvloop
from picows import WSFrame, WSListener, WSMsgType, WSTransport, WSUpgradeRequest, ws_create_server

ASKING = "asking" in sys.argv
PINGS = 0.38
"""So many pings for every message, as ours sends at a thousand tables."""

DECK = [rank + suit for suit in "SHDC" for rank in "A23456789TJQK"]


@dataclass
class Table:
    """Who is there, how many cards lie, and whether the last of them has been slapped."""

    sockets: set[WSTransport] = field(default_factory=set)
    turned: int = 0
    slapped: bool = True
    to_ping: float = 0.0

    def tell(self, text: bytes) -> None:
        for socket in self.sockets:
            socket.send(WSMsgType.TEXT, text)
            if ASKING:
                self.to_ping += PINGS
                if self.to_ping >= 1:
                    self.to_ping -= 1
                    # Later, as ours: in one journey with the card it would cost next to nothing.
                    loop.call_later(0.1, socket.send_ping, b"12345678")


tables: dict[str, Table] = defaultdict(Table)


class Player(WSListener):
    """One phone."""

    def __init__(self, path: str) -> None:
        _, _, number, self.seat = path.split("/")
        self.table = tables[number]

    def on_ws_connected(self, transport: WSTransport) -> None:
        self.table.sockets.add(transport)

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        self.table.sockets.discard(transport)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type is not WSMsgType.TEXT and frame.msg_type != WSMsgType.TEXT:
            return
        message = json.loads(frame.get_payload_as_bytes())
        table, nth = self.table, message["nth"]
        if message["t"] == "turn" and nth == table.turned + 1 and table.slapped:
            table.turned = nth
            face = DECK[nth % 52]
            table.slapped = face[0] != "J"
            table.tell(b'{"t":"card","nth":%d,"face":"%s"}' % (nth, face.encode()))
        elif message["t"] == "slap" and nth == table.turned and not table.slapped:
            table.slapped = True
            table.tell(b'{"t":"verdict","nth":%d,"seat":%s}' % (nth, self.seat.encode()))
        elif message["t"] == "sync":
            transport.send(WSMsgType.TEXT, b'{"t":"synced","nth":%d}' % nth)


async def main() -> None:
    global loop
    loop = asyncio.get_running_loop()

    def player(request: WSUpgradeRequest) -> Player:
        return Player(request.path.decode())

    server = await ws_create_server(player, "127.0.0.1", int(sys.argv[1]), backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
