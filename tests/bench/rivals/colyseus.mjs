// The workload "table" on Colyseus, told by its plain `broadcast`: node colyseus.mjs PORT
import { Room, Server } from "@colyseus/core";
import { WebSocketTransport } from "@colyseus/ws-transport";

const DECK = [..."SHDC"].flatMap((suit) => [..."A23456789TJQK"].map((rank) => rank + suit));

class Table extends Room {
  maxClients = 4;
  patchRate = null;
  turned = 0;
  slapped = true;

  onCreate() {
    this.onMessage("turn", (_, nth) => {
      if (nth !== this.turned + 1 || !this.slapped) return;
      this.turned = nth;
      const face = DECK[nth % 52];
      this.slapped = face[0] !== "J";
      this.broadcast("card", { t: "card", nth, face });
    });
    this.onMessage("slap", (client, nth) => {
      if (nth !== this.turned || this.slapped) return;
      this.slapped = true;
      this.broadcast("verdict", { t: "verdict", nth, seat: client.sessionId });
    });
  }
}

const server = new Server({ transport: new WebSocketTransport(), greet: false });
server.define("table", Table);
await server.listen(Number(process.argv[2]));
