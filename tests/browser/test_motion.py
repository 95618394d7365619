"""How a deal and a won pile move, on a processor four times as slow as this one; `make screens` shows the figures.

And when nothing moves: browsers hand on a touch up to two frames later while something does.

What is asserted is that they do move, frame by frame. How fast is a matter of the machine, and what else it is doing.
"""

import json
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, WebSocketRoute

from engine.game import PileWon, Seat
from tests.browser import scenes
from tests.browser.conftest import SCREENS
from tests.browser.phone import Phone
from tests.browser.test_game import seated
from tests.support.serving import Served, served
from wire.codec import read_client_message, write
from wire.messages import Message, SeatId, Sync, Synced, Update, Welcome

SLOWER = 4
WATCHED_MS = 1_500
FEW = 15
"""Cards that travel by anything but transform and opacity would cost a layout in each of some ninety frames."""
HALF_IDLE = 0.6
"""A main thread that is busy for more of the time than this would miss frames."""
WATCH = """ms => new Promise(done => {
    const gaps = [];
    let last = performance.now();
    const start = last;
    const frame = () => {
        const now = performance.now();
        gaps.push(now - last);
        last = now;
        if (now - start < ms) requestAnimationFrame(frame);
        else done(gaps.slice(1));
    };
    requestAnimationFrame(frame);
})"""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The server that the page comes from."""
    with served(tmp_path_factory.mktemp("stage")) as server:
        yield server


def test_a_deal_and_a_won_pile_move_frame_by_frame(chromium: Browser, stage: Served) -> None:
    """The figures are written to build/screens/frames.json."""
    context = chromium.new_context(
        base_url=stage.url, viewport={"width": 390, "height": 844}, has_touch=True, service_workers="block"
    )
    page = context.new_page()
    table = scenes.playing(4)
    said: list[WebSocketRoute] = []

    def serve(socket: WebSocketRoute) -> None:
        said.append(socket)

        def hear(frame: str | bytes) -> None:
            message = read_client_message(frame)  # type: ignore[arg-type]
            if isinstance(message, Sync):
                socket.send(write(Synced(message.sent_us, scenes.ROOM_US)))
            elif message.__struct_config__.tag == "join":
                socket.send(write(Welcome(scenes.CODE, "a-key", SeatId("Anna"), scenes.ROOM_US)))
                socket.send(write(Update(1, 0, table=scenes.lobby_view(4))))

        socket.on_message(hear)

    page.route_web_socket("**/ws/*", serve)
    page.goto(scenes.TABLE)
    page.get_by_role("button", name="Take a seat").click()
    page.locator("[data-seat=Ben]").wait_for()
    page.locator("[data-testid=code]").wait_for()
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})

    def work() -> dict[str, float]:
        return {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}

    def watch(message: Message) -> dict[str, float]:
        before = work()
        page.evaluate(f"() => {{ window.gaps = ({WATCH})({WATCHED_MS}); }}")
        said[0].send(write(message))
        gaps = sorted(page.evaluate("() => window.gaps"))
        after = work()
        return {
            "frames": len(gaps),
            "median_ms": round(gaps[len(gaps) // 2], 1),
            "p95_ms": round(gaps[int(len(gaps) * 0.95)], 1),
            "worst_ms": round(gaps[-1], 1),
            "busy_ms": round((after["TaskDuration"] - before["TaskDuration"]) * 1000, 1),
            "layouts": after["LayoutCount"] - before["LayoutCount"],
        }

    figures = {"deal": watch(Update(2, 0, table=table, view=scenes.view((13, 13, 13, 13), turned=0)))}
    watch(Update(3, 0, view=scenes.view(scenes.FOUR, "4C KD JH")))
    won = Update(4, 0, view=scenes.THREE_HANDS, events=(PileWon(Seat(2), 43, 6),), verdict=scenes.VERDICT)
    figures["won pile"] = watch(won)
    context.close()

    SCREENS.mkdir(parents=True, exist_ok=True)
    (SCREENS / "frames.json").write_text(json.dumps(figures, indent=1) + "\n")
    for figure in figures.values():
        assert figure["layouts"] <= FEW, figures
        assert figure["busy_ms"] <= WATCHED_MS * HALF_IDLE, figures


STILL = """() => document.getAnimations().every(
    each => each.playState !== "running" || each.effect.getComputedTiming().progress === null)"""
"""Whether nothing moves. What waits for its time has made no progress."""


@pytest.mark.timeout(90)
def test_nothing_moves_while_a_card_waits_for_hands(phone: Callable[[str], Phone]) -> None:
    """R4: or whoever's turn it is would be handed touches later than others."""
    ann, ben = seated(phone)
    ann.button("Start the game").tap()
    ben.wait_for_table()
    ben.turn()
    ann.wait_for_other_card(0)
    ann.page.wait_for_function(f"() => document.querySelector('button.own.mine') && ({STILL})()")
    ann.page.evaluate("() => void document.body.animate({ opacity: [1, 0.9] }, 60000)")
    assert not ann.page.evaluate(STILL)
