import { fireEvent, render, screen } from "@testing-library/svelte";
import { tick } from "svelte";
import { beforeEach, expect, it } from "vitest";
import { FakeWorld, seat, tableView, update } from "../lib/fakes";
import { LiveTable } from "../lib/live.svelte";
import { PRESETS, type TableView } from "../lib/wire";
import Lobby from "./Lobby.svelte";

beforeEach(() => localStorage.clear());

async function inLobby(me: string, table: Partial<TableView> = {}) {
  const world = new FakeWorld();
  const live = new LiveTable("ABC234", { t: "join", name: "Mia", face: "🦊" }, world);
  live.open();
  world.socket.opens();
  world.socket.hears({ t: "welcome", code: "ABC234", key: "secret", seat: me, room_us: 0, protocol: 3 });
  world.socket.hears(update(1, { table: tableView({ stage: "lobby", ...table }) }));
  world.pass(32);
  render(Lobby, { live, link: "http://192.0.2.7:8000/t/ABC234", onleave: () => undefined });
  await tick();
  return { world, live, socket: world.socket };
}

it("the host chooses a preset", async () => {
  const { socket } = await inLobby("a");
  expect(screen.getByRole("button", { name: "Standard" }).getAttribute("aria-pressed")).toBe("true");
  await fireEvent.click(screen.getByRole("button", { name: "House party" }));
  expect(socket.of("set_rules")).toEqual([{ t: "set_rules", rules: PRESETS.house_party.rules }]);
});

it("a switch stays as the table plays until the table has agreed, and a conflict is said", async () => {
  const { world, socket } = await inLobby("a");
  const wrongCall = screen.getByRole<HTMLInputElement>("switch", { name: /Wrong call/ });
  await fireEvent.click(wrongCall);
  expect(socket.of("set_rules")[0]?.rules.wrong_call).toBe(true);
  expect(wrongCall.checked).toBe(false);
  const detail = "Whatever the server says in its own words.";
  socket.hears({ t: "refused", of: "set_rules", reason: "bad_rules", rule: "R14", detail });
  world.pass(16);
  await tick();
  expect(screen.getByRole("alert").textContent).toBe("The wrong call needs the call: switch the call on as well.");
});

it("two switches in quick succession are both asked for", async () => {
  const { socket } = await inLobby("a");
  await fireEvent.click(screen.getByRole("switch", { name: /Doubles/ }));
  await fireEvent.click(screen.getByRole("switch", { name: /Sandwiches/ }));
  expect(socket.of("set_rules").at(-1)?.rules).toMatchObject({ doubles: true, sandwiches: true });
});

it("R32: the host gives a handicap, and everybody sees it", async () => {
  const { socket } = await inLobby("a");
  await fireEvent.change(screen.getByRole("combobox", { name: "Handicap of B" }), { target: { value: "150" } });
  expect(socket.of("set_handicap")).toEqual([{ t: "set_handicap", seat: "b", ms: 150 }]);
});

it("R32: a guest sees a handicap", async () => {
  await inLobby("b", { seats: [seat("a", null, { host: true, handicap_ms: 150 }), seat("b", null)] });
  expect(screen.getByText("handicap 150 ms")).toBeTruthy();
  expect(screen.queryByRole("combobox")).toBeNull();
});

it("a table of one cannot start, and is told why", async () => {
  const { socket } = await inLobby("a", { seats: [seat("a", null, { host: true })] });
  const start = screen.getByRole("button", { name: "Start the game" });
  expect(start.getAttribute("aria-disabled")).toBe("true");
  await fireEvent.click(start);
  expect(socket.of("start")).toEqual([]);
  expect(screen.getByText(/One more seat is needed/)).toBeTruthy();
});

it("R20, R21: a table for two offers nobody else a seat, and with three people cannot start", async () => {
  const three = ["a", "b", "c"].map((id) => seat(id, null, { host: id === "a" }));
  const { socket, world } = await inLobby("a", { rules: PRESETS.duel.rules, seats: three.slice(0, 2) });
  expect(screen.queryByRole("button", { name: /Add a computer/ })).toBeNull();
  expect(screen.getByText("2 of 2 seats")).toBeTruthy();
  socket.hears(update(2, { table: tableView({ stage: "lobby", rules: PRESETS.war.rules, seats: three }) }));
  world.pass(32);
  await tick();
  await fireEvent.click(screen.getByRole("button", { name: "Start the game" }));
  expect(socket.of("start")).toEqual([]);
  expect(screen.getByText(/This game is for two/)).toBeTruthy();
});

it("R28: somebody new asks for the seat of a person who is away, and waits for the host", async () => {
  const gone = (claimed: boolean) => ({
    stage: "lobby" as const,
    seats: [seat("a", null, { host: true }), seat("b", null, { name: "Ben", away: true, claimed })],
    standings: [{ name: "Ben", face: "🦊", wins: 3, games: 4, seat: "b" }],
  });
  const { socket, world } = await inLobby("nobody", gone(false));
  await fireEvent.click(screen.getByRole("button", { name: "I am Ben" }));
  expect(socket.of("claim")).toEqual([{ t: "claim", seat: "b" }]);
  socket.hears(update(2, { table: tableView(gone(true)) }));
  world.pass(32);
  await tick();
  expect(screen.getByText("You have asked for Ben’s seat. The host decides.")).toBeTruthy();
});

it("R28: the host gives the seat, or does not", async () => {
  const seats = [seat("a", null, { host: true }), seat("b", null, { name: "Ben", away: true, claimed: true })];
  const { socket } = await inLobby("a", { seats });
  expect(screen.getByRole("alert").textContent).toContain("Somebody says: “I am Ben.”");
  await fireEvent.click(screen.getByRole("button", { name: "Give the seat" }));
  await fireEvent.click(screen.getByRole("button", { name: "No" }));
  expect(socket.of("give_seat").map(({ seat, yes }) => [seat, yes])).toEqual([
    ["b", true],
    ["b", false],
  ]);
});

it("a guest reads the rules and waits for the host", async () => {
  await inLobby("b");
  expect(screen.queryByRole("button", { name: "Start the game" })).toBeNull();
  expect(screen.getByText("A starts the game.")).toBeTruthy();
  expect(screen.queryByRole("switch")).toBeNull();
});

it("a name is text, never markup", async () => {
  await inLobby("a", { seats: [seat("a", 0), seat("b", 1, { name: "<img src=x onerror=alert(1)>" })] });
  expect(document.querySelector("img")).toBeNull();
  expect(screen.getByText("<img src=x onerror=alert(1)>")).toBeTruthy();
});
