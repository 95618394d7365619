// The wire's test vectors (docs/protocol.vectors.json), which the server's own tests keep as well.

import { decode, encode } from "@msgpack/msgpack";
import { describe, expect, it } from "vitest";
import vectors from "../../../../docs/protocol.vectors.json";
import { RoomClock } from "./clock";
import { isCode, readCode } from "./code";
import { PROTOCOL } from "./wire";

function bytes(hex: string): Uint8Array {
  return Uint8Array.from(hex.split(" "), (pair) => parseInt(pair, 16));
}

describe("the wire's test vectors", () => {
  it("are of the version that this page speaks", () => {
    expect(vectors.protocol).toBe(PROTOCOL);
  });

  it.each(vectors.messages)("$json.t is written and read as the server does", ({ json, msgpack }) => {
    expect(encode(json)).toEqual(bytes(msgpack));
    expect(decode(bytes(msgpack))).toEqual(json);
  });

  it.each(vectors.codes)("the code in '$typed'", ({ typed, code }) => {
    const read = readCode(typed);
    expect(isCode(read) ? read : null).toBe(code);
  });

  it.each(vectors.clocks)("the room's clock where $what", ({ exchanges, now_us, room_us, within_us }) => {
    const clock = new RoomClock();
    for (const { sent_us, room_us: roomUs, heard_us } of exchanges) {
      clock.add({ sentMs: sent_us / 1000, roomUs, receivedMs: heard_us / 1000 });
    }
    expect(Math.abs((clock.roomUs(now_us / 1000) ?? Infinity) - room_us)).toBeLessThanOrEqual(within_us);
  });
});
