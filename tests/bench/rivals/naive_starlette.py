"""The workload "table" as most people would write it first: Starlette, and a message sent to one after the other.

python naive_starlette.py PORT
"""

import sys
from collections import defaultdict
from dataclasses import dataclass, field

import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

DECK = [rank + suit for suit in "SHDC" for rank in "A23456789TJQK"]


@dataclass
class Table:
    """Who is there, how many cards lie, and whether the last of them has been slapped."""

    sockets: list[WebSocket] = field(default_factory=list)
    turned: int = 0
    slapped: bool = True

    async def tell(self, message: dict[str, object]) -> None:
        for socket in list(self.sockets):
            await socket.send_json(message)


tables: dict[str, Table] = defaultdict(Table)


async def serve(socket: WebSocket) -> None:
    await socket.accept()
    table = tables[socket.path_params["table"]]
    table.sockets.append(socket)
    try:
        while True:
            message = await socket.receive_json()
            nth = message["nth"]
            if message["t"] == "turn" and nth == table.turned + 1 and table.slapped:
                table.turned = nth
                face = DECK[nth % 52]
                table.slapped = face[0] != "J"
                await table.tell({"t": "card", "nth": nth, "face": face})
            elif message["t"] == "slap" and nth == table.turned and not table.slapped:
                table.slapped = True
                await table.tell({"t": "verdict", "nth": nth, "seat": int(socket.path_params["seat"])})
    except WebSocketDisconnect:
        table.sockets.remove(socket)


app = Starlette(routes=[WebSocketRoute("/ws/{table}/{seat}", serve)])

if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]), log_level="warning", ws_per_message_deflate=False, backlog=4096)
