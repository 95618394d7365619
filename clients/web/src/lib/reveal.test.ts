import { expect, it } from "vitest";
import { FakeWorld } from "./fakes";
import { Reveal } from "./reveal";

function stage(localMs: (roomUs: number) => number | null = (us) => us / 1000) {
  const world = new FakeWorld();
  const reveal = new Reveal(world, localMs);
  const seen: string[] = [];
  const push = (name: string, atMs: number): void =>
    reveal.push(atMs * 1000, () => {
      seen.push(`${name} shown ${String(world.now)}`);
      return (paintedMs) => seen.push(`${name} painted ${String(paintedMs)}`);
    });
  return { world, reveal, seen, push };
}

it("R3: a card is held until its moment and shown in the frame that is painted nearest to it", () => {
  const { world, seen, push } = stage();
  push("card", 500);
  world.pass(470);
  expect(seen).toEqual([]);
  world.pass(100);
  // Frames come at 480, 496, 512 …: what is changed in one is on the screen at the next.
  expect(seen).toEqual(["card shown 480", "card painted 496"]);
});

it("on a slow phone a card counts as painted at the first beat after its frame was made", () => {
  let now = 100;
  const [frames, timers]: [((atMs: number) => void)[], (() => void)[]] = [[], []];
  const reveal = new Reveal(
    {
      nowMs: () => now,
      frame: (callback) => void frames.push(callback),
      later: (callback) => (timers.push(callback), () => undefined),
      hidden: () => false,
    },
    () => null,
  );
  const painted: number[] = [];
  reveal.push(0, () => (atMs) => painted.push(Math.round(atMs)));
  frames.shift()?.(100);
  now = 125; // so long it was being made, and the next frame had begun at 117 by then
  timers.shift()?.();
  frames.shift()?.(100 + 1000 / 60);
  expect(painted).toEqual([133]);
});

it("what is to be shown at once is shown in the next frame", () => {
  const { world, seen, push } = stage();
  push("verdict", 0);
  expect(seen).toEqual([]);
  world.pass(16);
  expect(seen).toEqual(["verdict shown 16"]);
});

it("updates are shown in order, so one that is due waits for one that is not", () => {
  const { world, seen, push } = stage();
  push("card", 300);
  push("table", 0);
  world.pass(200);
  expect(seen).toEqual([]);
  world.pass(200);
  expect(seen.map((line) => line.split(" ")[0])).toEqual(["card", "table", "card", "table"]);
});

it("while the room's clock is unknown nothing is held", () => {
  const { world, seen, push } = stage(() => null);
  push("card", 10_000);
  world.pass(16);
  expect(seen).toEqual(["card shown 16"]);
});

it("a hidden page holds nothing, and its cards count as painted when it is seen again", () => {
  const { world, reveal, seen, push } = stage();
  push("card", 500);
  world.isHidden = true;
  reveal.pump();
  expect(seen).toEqual(["card shown 0"]);
  world.pass(1_000);
  expect(seen).toHaveLength(1);
  world.isHidden = false;
  reveal.pump();
  world.pass(48);
  expect(seen[1]).toBe("card painted 1024");
});

it("what was held is forgotten on clear", () => {
  const { world, reveal, seen, push } = stage();
  push("card", 500);
  reveal.clear();
  world.pass(1_000);
  expect(seen).toEqual([]);
});
