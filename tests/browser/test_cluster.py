"""Several servers and the proxy before them: what phones notice when the server under their game is gone."""

import json
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.browser.phone import Phone
from tests.browser.test_game import play, seated
from tests.support.serving import ROOMY, wait_for
from tools.cluster import Cluster


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Cluster]:
    """`make cluster`, the Jacks last in its decks."""
    with Cluster(tmp_path, ROOMY, module="tests.support.serve") as cluster:
        yield cluster


def at_work(cluster: Cluster) -> list[str]:
    """The nodes that have a table awake."""
    awake = []
    for name, node in cluster.nodes.items():
        if node.pid:
            with urllib.request.urlopen(f"{cluster.url_of(name)}/healthz", timeout=5) as answer:
                awake += [name] * json.load(answer)["tables"]
    return awake


def cards_on_the_table(phones: tuple[Phone, Phone]) -> int:
    """Those that the phones have left of a deck, while nobody has won any."""
    return 52 - sum(phone.look().cards for phone in phones)


@pytest.mark.timeout(180)
def test_the_server_under_a_running_game_goes_and_both_phones_play_on(
    phone: Callable[[str], Phone], server: Cluster
) -> None:
    """Reliability 1 and 6: first it is killed, then its successor is stopped in peace."""
    both = ann, ben = seated(phone)
    ann.page.get_by_text("Every switch").tap()
    ann.page.get_by_label("Pace").select_option("500")
    ann.button("Start the game").tap()
    for each in both:
        each.wait_for_table()
    play([ann, ben], until_nth=4)
    (first,) = at_work(server)

    server.kill(first)
    wait_for(lambda: at_work(server), "another server to take the table")
    play([ann, ben], until_nth=8)
    (second,) = at_work(server)
    assert second != first
    wait_for(lambda: ann.look().nth == cards_on_the_table(both), "every card to be there, and once")

    server.drain(second)
    wait_for(lambda: at_work(server), "the last server to take the table")
    play([ann, ben], until_nth=12)
    ben.wait_for_card(12)
    wait_for(lambda: ben.look().nth == cards_on_the_table(both), "every card to be there, and once")
