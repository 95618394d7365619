// A player in another language, written from docs/protocol.md alone: `node player.mjs SERVER CODE NAME json|msgpack`.
//
// Slaps Jacks, turns its cards, comes back to its seat when the line breaks, and tells of itself on standard output, a
// JSON object a line. Needs Node 20 with --experimental-websocket, or any newer one.

import { createRequire } from "node:module";

const [server, code, name, wire] = process.argv.slice(2);
const origin = server.replace(/^http/, "ws");

const REACTION_MS = 260;
const TURN_MS = 400;
const LONGEST_HOLD_MS = 1000; // P9
const FIRST_PAUSE_MS = 250; // P7
const LONGEST_PAUSE_MS = 5000;
const SYNC_MS = 2500; // P8
const RESTARTS = 1012; // P16
const RESTARTS_MS = 200;
const MOVED = 4307;
const MOST_HOPS = 3;
// P4: after these a client does not come back.
const FINAL = new Set([4400, 4403, 4404, 4409, 4410, 4426, 4429]);

// P1 and P15: one map a message, either as msgpack in binary frames or as JSON in text frames.
const { encode, decode } =
  wire === "json"
    ? { encode: JSON.stringify, decode: JSON.parse }
    : createRequire(new URL("../../../clients/web/package.json", import.meta.url))("@msgpack/msgpack");

const nowUs = () => Math.round(performance.now() * 1000);
const tell = (what) => console.log(JSON.stringify(what));

let socket, key, seat, lastN, best, shown, syncing, whole;
const painted = new Map(); // P9: when each card of the game was painted, whatever has become of the socket.
let paintedGame;
let pauseMs = FIRST_PAUSE_MS;
let [node, hops] = ["", 0];

function dial() {
  // P6, P8: what was known of the count and of the clock belonged to the last socket.
  [lastN, best, whole] = [null, null, true];
  shown = { table: null, view: null };
  const table = `${origin}${node && `/n/${node}`}/ws/${code}`;
  socket = wire === "json" ? new WebSocket(table, ["slapjack.json"]) : new WebSocket(table);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => say({ t: "join", name, face: "🐢", key: key ?? "" });
  socket.onmessage = ({ data }) => hear(decode(data));
  socket.onclose = ({ code, reason }) => lost(code, reason);
  // Where nobody answers, Node 20 says so by an error alone.
  socket.onerror = () => lost(1006, "");
}

function lost(code, reason) {
  socket.onclose = socket.onerror = socket.onmessage = null;
  clearInterval(syncing);
  tell({ closed: code, reason });
  if (FINAL.has(code)) process.exit(code === 4410 ? 0 : 1);
  if (code === MOVED && hops < MOST_HOPS && /^[a-z0-9-]{1,32}$/.test(reason)) {
    [node, hops] = [reason, hops + 1];
    return dial();
  }
  [node, hops] = ["", 0];
  const atOnce = code === RESTARTS && pauseMs === FIRST_PAUSE_MS;
  setTimeout(dial, atOnce ? RESTARTS_MS * Math.random() : pauseMs * (0.5 + Math.random() / 2));
  pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
}

function say(message) {
  if (socket.readyState === WebSocket.OPEN) socket.send(encode(message));
}

function hear(message) {
  switch (message.t) {
    case "welcome": {
      tell({ welcome: message.seat, back: message.seat === seat });
      [key, seat, pauseMs] = [message.key, message.seat, FIRST_PAUSE_MS];
      const sync = () => say({ t: "sync", sent_us: nowUs() });
      for (const ms of [0, 200, 400, 600]) setTimeout(sync, ms);
      syncing = setInterval(sync, SYNC_MS);
      break;
    }
    case "synced": {
      // P8: the room's clock minus ours, known best by the shortest round trip.
      const heardUs = nowUs();
      const rtt = heardUs - message.sent_us;
      if (!best || rtt <= best.rtt) best = { rtt, offset: message.room_us - (message.sent_us + heardUs) / 2 };
      break;
    }
    case "update":
      if (lastN !== null && message.n !== lastN + 1) return socket.close(); // P6
      lastN = message.n;
      hold(message);
      break;
    case "refused":
      tell({ refused: message.of, reason: message.reason });
      if (message.of === "join") process.exit(1);
      break;
  }
}

// P9: shown at its moment, and never before the updates that came before it.
let queue = Promise.resolve();
function hold(update) {
  const from = socket;
  const dueUs = update.show_at_us && best ? update.show_at_us - best.offset : nowUs();
  queue = queue.then(async () => {
    const waitMs = Math.min(LONGEST_HOLD_MS, (dueUs - nowUs()) / 1000);
    if (waitMs > 0) await new Promise((go) => setTimeout(go, waitMs));
    if (from === socket) show(update, dueUs);
  });
}

function show(update, dueUs) {
  if (update.table) {
    if (update.table.game !== paintedGame) painted.clear();
    paintedGame = update.table.game;
    shown.table = update.table;
  }
  // P6: a null part has not changed, but in the first update of a socket there is no game then.
  if (update.view || whole) shown.view = update.view;
  whole = false;
  const top = shown.view?.landed.at(-1);
  // P9: shown afresh, and so the painting to come counts.
  if (top && update.view && update.show_at_us && !update.events.length) painted.delete(top.nth);
  if (top && !painted.has(top.nth)) {
    painted.set(top.nth, nowUs());
    if (update.say_shown) say({ t: "shown", game: shown.table.game, nth: top.nth, late_us: Math.round(nowUs() - dueUs) });
  }
  for (const event of update.events) tell(event);
  if (update.view && !update.view.end) play(shown.table, update.view, top);
}

function play({ game, seats }, view, top) {
  const place = seats.find(({ id }) => id === seat)?.place ?? null;
  const still = () => shown.view === view && shown.table.game === game;
  // P10: a hand names the card that it answers, and how long after its painting it came.
  const reaction = () => (top ? nowUs() - painted.get(top.nth) : null);
  if (top?.face[0] === "J" && place !== null) {
    setTimeout(() => still() && say({ t: "slap", game, nth: top.nth, reaction_us: reaction() }), REACTION_MS);
  } else if (view.turners.includes(place)) {
    setTimeout(() => still() && say({ t: "turn", game, nth: view.turned + 1, reaction_us: reaction() }), TURN_MS);
  }
}

dial();
