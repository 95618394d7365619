// The workload "table" on bare Node `ws`: node node_ws.mjs PORT
import { WebSocketServer } from "ws";

const DECK = [..."SHDC"].flatMap((suit) => [..."A23456789TJQK"].map((rank) => rank + suit));
const tables = new Map();

function tell(table, message) {
  const text = JSON.stringify(message);
  for (const socket of table.sockets) socket.send(text);
}

const server = new WebSocketServer({ port: Number(process.argv[2]), perMessageDeflate: false, backlog: 4096 });
server.on("connection", (socket, request) => {
  const [, , number, seat] = request.url.split("/");
  const table = tables.get(number) ?? { sockets: new Set(), turned: 0, slapped: true };
  tables.set(number, table);
  table.sockets.add(socket);
  socket.on("close", () => table.sockets.delete(socket));
  socket.on("message", (data) => {
    const { t, nth } = JSON.parse(data);
    if (t === "turn" && nth === table.turned + 1 && table.slapped) {
      table.turned = nth;
      const face = DECK[nth % 52];
      table.slapped = face[0] !== "J";
      tell(table, { t: "card", nth, face });
    } else if (t === "slap" && nth === table.turned && !table.slapped) {
      table.slapped = true;
      tell(table, { t: "verdict", nth, seat: Number(seat) });
    }
  });
});
