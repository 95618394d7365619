import { describe, expect, it } from "vitest";
import { Connection, type Status } from "./connection";
import { FRAME_MS, FakeWorld, tableView, update } from "./fakes";
import { CloseCode, PROTOCOL, type ServerMessage, type Welcome } from "./wire";

const WELCOME: Welcome = { t: "welcome", code: "ABC234", key: "secret", seat: "a", room_us: 1, protocol: 3 };

function joined() {
  const world = new FakeWorld();
  const heard: ServerMessage[] = [];
  const told: Status[] = [];
  const connection = new Connection(
    world,
    () => ({ t: "join", name: "Mia", face: "🦊" }),
    (message) => heard.push(message),
    (status) => told.push(status),
  );
  connection.open();
  world.socket.opens();
  return { world, heard, told, connection };
}

function open() {
  const at = joined();
  at.world.socket.hears(WELCOME);
  return at;
}

describe("joining", () => {
  it("says who it is first", () => {
    const { world } = joined();
    expect(world.socket.said).toEqual([{ t: "join", name: "Mia", face: "🦊", protocol: PROTOCOL }]);
    expect(world.socket.binaryType).toBe("arraybuffer");
  });

  it("says nothing else before it is welcome", () => {
    const { world, connection } = joined();
    expect(connection.say({ t: "start" })).toBe(false);
    world.socket.hears(WELCOME);
    expect(connection.say({ t: "start" })).toBe(true);
  });

  it("keeps the socket after a refusal and may ask again", () => {
    const { world, told, connection } = joined();
    world.socket.hears({ t: "refused", of: "join", reason: "table_full", rule: "", detail: "" });
    expect(told.at(-1)).toEqual({ is: "refused", reason: "table_full", detail: "" });
    connection.joinAgain();
    expect(world.socket.of("join")).toHaveLength(2);
    expect(world.sockets).toHaveLength(1);
  });
});

it("leaves somebody who was refused in peace when the server tires of waiting", () => {
  const { world, told, connection } = joined();
  world.socket.hears({ t: "refused", of: "join", reason: "bad_name", rule: "", detail: "" });
  world.socket.breaks(CloseCode.JOIN_TIMEOUT);
  world.pass(60_000);
  expect(world.sockets).toHaveLength(1);
  expect(told.at(-1)).toMatchObject({ is: "refused" });
  connection.joinAgain();
  expect(world.sockets).toHaveLength(2);
});

describe("coming back", () => {
  it("comes back by itself, later each time, and soon again once it was welcome", () => {
    const { world, told } = open();
    world.socket.breaks();
    expect(told.at(-1)).toEqual({ is: "connecting", lost: true, code: 1006 });
    world.pass(300);
    expect(world.sockets).toHaveLength(2);
    world.socket.breaks();
    world.pass(599);
    expect(world.sockets).toHaveLength(2);
    world.pass(1);
    expect(world.sockets).toHaveLength(3);
    world.socket.opens();
    world.socket.hears(WELCOME);
    world.socket.breaks();
    world.pass(300);
    expect(world.sockets).toHaveLength(4);
  });

  it("comes back at once when the page is seen again", () => {
    const { world, connection } = open();
    world.socket.breaks();
    connection.wake();
    expect(world.sockets).toHaveLength(2);
  });

  it("gives up on a socket that never opens", () => {
    const { world } = open();
    world.socket.breaks();
    world.pass(300 + 8_000 + 600);
    expect(world.sockets).toHaveLength(3);
  });

  it("joins anew when an update is missing", () => {
    const { world, heard } = open();
    world.socket.hears(update(7, { table: tableView() }));
    world.socket.hears(update(8));
    world.socket.hears(update(10));
    expect(heard.filter((message) => message.t === "update")).toHaveLength(2);
    world.pass(300);
    expect(world.sockets).toHaveLength(2);
    world.socket.opens();
    world.socket.hears(WELCOME);
    world.socket.hears(update(10));
    expect(heard.filter((message) => message.t === "update")).toHaveLength(3);
  });

  it("comes back after a frame that is no msgpack", () => {
    const { world } = open();
    world.socket.onmessage?.({ data: new Uint8Array([0xc1]).buffer });
    world.pass(300);
    expect(world.sockets).toHaveLength(2);
  });

  it.each([CloseCode.NO_SUCH_TABLE, CloseCode.SEAT_TAKEN_OVER, CloseCode.REMOVED, CloseCode.WRONG_VERSION])(
    "stops for good at %i",
    (code) => {
      const { world, told, connection } = open();
      world.socket.breaks(code);
      world.pass(60_000);
      connection.wake();
      expect(world.sockets).toHaveLength(1);
      expect(told.at(-1)).toEqual({ is: "closed", code });
    },
  );

  it("follows to the server that has the table, and back to any when that one is gone", () => {
    const { world } = joined();
    world.socket.breaks(CloseCode.MOVED, "node-2");
    expect(world.sockets.map((socket) => socket.node)).toEqual(["", "node-2"]);
    world.socket.breaks();
    world.pass(300);
    expect(world.sockets.map((socket) => socket.node)).toEqual(["", "node-2", ""]);
  });

  it("does not follow for ever, nor to what is no server's name", () => {
    const { world } = joined();
    for (let hop = 0; hop < 3; hop++) world.socket.breaks(CloseCode.MOVED, "node-2");
    expect(world.sockets).toHaveLength(4);
    world.socket.breaks(CloseCode.MOVED, "node-2");
    expect(world.sockets).toHaveLength(4);
    world.pass(300);
    expect(world.socket.node).toBe("");
    world.socket.breaks(CloseCode.MOVED, "../node");
    expect(world.sockets).toHaveLength(5);
  });

  it("comes back within a fifth of a second to a server that was restarted, then with pauses", () => {
    const { world } = open();
    world.socket.breaks(1012);
    world.pass(200);
    expect(world.sockets).toHaveLength(2);
    world.socket.breaks(1012);
    world.pass(599);
    expect(world.sockets).toHaveLength(2);
    world.pass(1);
    expect(world.sockets).toHaveLength(3);
  });

  it("does not hammer a server that is full", () => {
    const { world } = open();
    world.socket.breaks(CloseCode.SERVER_FULL);
    world.pass(3_999);
    expect(world.sockets).toHaveLength(1);
    world.pass(1);
    expect(world.sockets).toHaveLength(2);
  });
});

describe("the dealer's question for hands", () => {
  it("is answered by itself, once every touch that came before it has been heard of", () => {
    const { world, connection, heard } = open();
    world.socket.hears({ t: "any_hand", game: 1, nth: 4 });
    world.pass(FRAME_MS + 7);
    connection.say({ t: "slap", game: 1, nth: 4, reaction_us: 300_000, side: "" });
    world.pass(1);
    expect(world.socket.said.slice(-2)).toEqual([
      { t: "slap", game: 1, nth: 4, reaction_us: 300_000, side: "" },
      { t: "all_said", game: 1, nth: 4 },
    ]);
    expect(heard).toEqual([WELCOME]);
  });

  it("is answered at once by a page that nobody sees, whose timers are slow", () => {
    const { world } = open();
    world.isHidden = true;
    world.socket.hears({ t: "any_hand", game: 1, nth: 4 });
    expect(world.socket.of("all_said")).toHaveLength(1);
  });
});

describe("the room's clock", () => {
  function answer(world: FakeWorld): void {
    const last = world.socket.of("sync").at(-1);
    if (last) world.socket.hears({ t: "synced", sent_us: last.sent_us, room_us: last.sent_us + 1_000_000 });
  }

  it("is asked eight times in quick succession, then every few seconds", () => {
    const { world } = open();
    for (let ask = 0; ask < 8; ask++) {
      answer(world);
      world.pass(60);
    }
    expect(world.socket.of("sync")).toHaveLength(9);
    answer(world);
    world.pass(2_990);
    expect(world.socket.of("sync")).toHaveLength(9);
    world.pass(10);
    expect(world.socket.of("sync")).toHaveLength(10);
  });

  it("forgets what it knew when the phone was asleep, and an answer from before the sleep", () => {
    const { world, connection } = open();
    answer(world);
    world.pass(60);
    const before = world.socket.of("sync").at(-1);
    world.sleep(600_000);
    world.pass(100);
    expect(connection.clock.roomUs(world.now)).toBeNull();
    world.socket.hears({ t: "synced", sent_us: before?.sent_us ?? 0, room_us: 5 });
    expect(connection.clock.roomUs(world.now)).toBeNull();
  });

  it("takes a line for dead that does not answer", () => {
    const { world } = open();
    answer(world);
    world.pass(2_000);
    expect(world.sockets).toHaveLength(1);
    world.pass(2_000);
    expect(world.sockets).toHaveLength(2);
  });
});
