import { describe, expect, it } from "vitest";
import { RoomClock } from "./clock";

/** An exchange over a path of `out` ms there and `back` ms home; the room's clock is 5,000 ms ahead of the phone's. */
function exchange(atMs: number, out: number, back: number, aheadMs = 5_000) {
  return { sentMs: atMs, roomUs: (atMs + out + aheadMs) * 1000, receivedMs: atMs + out + back };
}

describe("the room's clock", () => {
  it("knows nothing before the first exchange", () => {
    const clock = new RoomClock();
    expect(clock.roomUs(100)).toBeNull();
    expect(clock.localMs(1, 100)).toBeNull();
  });

  it("is exact over an even path", () => {
    const clock = new RoomClock();
    clock.add(exchange(1_000, 20, 20));
    expect(clock.roomUs(2_000)).toBe(7_000_000);
    expect(clock.localMs(7_000_000, 2_000)).toBe(2_000);
  });

  it("believes the lowest round trip, not the latest", () => {
    const clock = new RoomClock();
    clock.add(exchange(1_000, 200, 20));
    clock.add(exchange(1_300, 11, 9));
    clock.add(exchange(1_400, 20, 300));
    expect(Math.abs((clock.roomUs(1_800) ?? 0) / 1000 - 6_800)).toBeLessThanOrEqual(1);
  });

  it("gives way to a newer exchange as the clocks drift apart", () => {
    const clock = new RoomClock();
    clock.add(exchange(0, 5, 5));
    clock.add(exchange(600_000, 6, 6, 5_012));
    expect(clock.roomUs(600_100)).toBe(605_112_000);
  });

  it("throws everything away when told to", () => {
    const clock = new RoomClock();
    clock.add(exchange(0, 5, 5));
    clock.forget();
    expect(clock.roomUs(1)).toBeNull();
  });

  it("takes no answer from before its question", () => {
    const clock = new RoomClock();
    clock.add({ sentMs: 10, roomUs: 0, receivedMs: 9 });
    expect(clock.roomUs(20)).toBeNull();
  });
});
