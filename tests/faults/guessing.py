"""Row 17: guessing the codes of tables: how many wrong ones are answered, and who still comes in meanwhile."""

import asyncio
import time
import urllib.error
import urllib.request
from collections import Counter
from itertools import count
from pathlib import Path

from clients.sdk import connect, create_table
from tests.faults.figure import Figure, both
from tests.faults.wire import Closed, dial
from tests.support.serving import Served, served
from wire.codes import CODE_LENGTH, CODE_SYMBOLS
from wire.messages import CloseCode, Join, Update

A_MINUTE = 10
A_SECOND = 10
AT_ONCE = 12
"""Guesses under way from one address: they meet while the store is asked."""
TOGETHER = 40
"""So many wrong codes, and right ones behind them, arrive in one burst; no more sockets than one address may have."""
DEFAULTS = {"SLAPJACK_MISSES_PER_MINUTE": "", "SLAPJACK_MISSES_PER_S": ""}


class Guesser:
    """Somebody who guesses as fast as the answers come, from some addresses."""

    def __init__(self, url: str, addresses: list[str], *, forged: bool) -> None:
        self._url, self._addresses, self._forged = url, addresses, forged
        self._nth = count()
        self.answers: Counter[int | None] = Counter()

    async def guess(self, for_s: float) -> Counter[int | None]:
        """Guesses for so long; how often each close code was the answer."""
        until_s = time.monotonic() + for_s
        await asyncio.gather(*(self._from(address, until_s) for address in self._addresses for _ in range(AT_ONCE)))
        return self.answers

    async def _from(self, address: str, until_s: float) -> None:
        while time.monotonic() < until_s:
            nth = next(self._nth)
            whence = f"198.51.{nth // 250 % 250}.{nth % 250}"
            headers = {"X_Forwarded_For": whence, "Forwarded": f"for={whence}", "X_Real_IP": whence}
            self.answers[await named(self._url, code_number(nth), address, headers if self._forged else {})] += 1
            await asyncio.sleep(0.05 * len(self._addresses))


async def named(url: str, code: str, address: str, headers: dict[str, str] | None = None) -> int | None:
    """The close code that naming this code brings from there; 0 where it leads to a table."""
    wire = await dial(url, f"/ws/{code}", address=address, **(headers or {}))
    try:
        await wire.say(Join("Eve", "🦊", watch=True))
        return 0 if isinstance(await wire.until_table(), Update) else None
    except Closed as closed:
        return closed.code
    finally:
        wire.drop()


def code_number(nth: int) -> str:
    """A code that nobody has."""
    symbols = ""
    for _ in range(CODE_LENGTH):
        nth, symbol = divmod(nth, len(CODE_SYMBOLS))
        symbols += CODE_SYMBOLS[symbol]
    return symbols[::-1]


async def from_one(server: Served, for_s: float) -> Figure:
    """One address, whatever it says of itself; and who is known at a table comes in from there."""
    code = await create_table(server.url)
    async with connect(server.url, code, name="Ann") as ann:
        key = ann.key
    answers = await Guesser(server.url, ["127.0.0.66"], forged=True).guess(for_s)
    misses, allowed = answers[CloseCode.NO_SUCH_TABLE], A_MINUTE + A_MINUTE * for_s / 60 + 1
    right = await named(server.url, code, "127.0.0.66")
    known = await named(server.url, code, "127.0.0.66", {"Cookie": f"slapjack={key}"})
    forged = await named(server.url, code, "127.0.0.66", {"Cookie": f"slapjack={key[:-1]}~"})
    together = await at_once(server, "127.0.0.67")
    over_http = await asyncio.to_thread(statuses, server.url, 2 * A_MINUTE)
    text = (
        f"from one address {misses} of {answers.total()} wrong codes answered in {for_s:.0f} s, forging or not; then "
        f"the right one {'barred' if right == CloseCode.TOO_MANY else right}, with a seat's key {known or 'let in'}; "
        f"over HTTP {over_http[404]} of {over_http.total()}; "
        f"of {TOGETHER} at once {together[CloseCode.NO_SUCH_TABLE]}, of as many right ones behind them {together[0]}"
    )
    kept = misses <= allowed and right == forged == CloseCode.TOO_MANY and known == 0 and over_http[404] <= A_MINUTE + 1
    return Figure(kept and together[CloseCode.NO_SUCH_TABLE] <= A_MINUTE + 1 and not together[0], text)


async def at_once(server: Served, address: str) -> Counter[int | None]:
    """What a burst of wrong codes, and right ones of a table that is awake behind them, is answered."""
    code = await create_table(server.url)
    async with connect(server.url, code, name="Bob"):
        codes = [*(code_number(10**7 + nth) for nth in range(TOGETHER)), *[code] * TOGETHER]
        return Counter(await asyncio.gather(*(named(server.url, code, address) for code in codes)))


def statuses(url: str, guesses: int) -> Counter[int]:
    """What wrong codes over HTTP are answered."""
    found: Counter[int] = Counter()
    for nth in range(guesses):
        asked = urllib.request.Request(
            f"{url}/api/tables/{code_number(10**6 + nth)}", headers={"X-Forwarded-For": f"198.51.100.{nth}"}
        )
        try:
            with urllib.request.urlopen(asked) as answer:
                found[answer.status] += 1
        except urllib.error.HTTPError as refused:
            with refused:
                found[refused.code] += 1
    return found


async def from_many(server: Served, addresses: int, for_s: float) -> Figure:
    """Many addresses at once; a family that has played here names a code meanwhile, and is let in."""
    code = await create_table(server.url)
    family = "127.0.0.77"
    while await named(server.url, code, family):  # noqa: ASYNC110 - real time, in another process
        await asyncio.sleep(0.1)  # what was guessed before has used up what strangers have
    many = [f"127.1.{nth // 250}.{nth % 250 + 1}" for nth in range(addresses)]
    guessing = asyncio.create_task(Guesser(server.url, many, forged=False).guess(for_s))
    let_in = tried = 0
    while not guessing.done():
        await asyncio.sleep(0.5)
        tried += 1
        let_in += await named(server.url, code, family) == 0
    answers = await guessing
    misses, allowed = answers[CloseCode.NO_SUCH_TABLE], A_SECOND * (for_s + 2)
    text = (
        f"from {addresses} addresses {misses} of {answers.total()} in {for_s:.0f} s; "
        f"a family that plays here let in {let_in} of {tried} times meanwhile"
    )
    return Figure(misses <= allowed and let_in == tried > 0 and answers[CloseCode.TOO_MANY] > 0, text)


def row(folder: Path, full: bool) -> Figure:
    """With the limits as they are when nobody sets them."""
    with served(folder, module="server", **DEFAULTS) as server:
        one = asyncio.run(from_one(server, 65 if full else 2))
        many = asyncio.run(from_many(server, *((50, 20) if full else (20, 2))))
    return both([one, many])
