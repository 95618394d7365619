"""How many wrong codes may be named, and by whom. Knows addresses and instants; knows no table."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from server.base.ports import Clock
from server.net.limits import MOST_ADDRESSES, AddressBuckets, Bucket, client_network

MOST_TRUST = 5
LONGEST_WAIT_US = 2_000_000
"""How long somebody waits to hear whether others' codes were right."""


@dataclass(slots=True)
class Guess:
    """A code that is being looked for: a miss that was charged to these, until it is said to be `right`."""

    of: str
    charged: tuple[Bucket, ...]
    right: bool = False


class Guesses:
    """How often codes may be guessed. Only misses are charged, to the client network and to all.

    They are charged when a code is named, and given back when it was right: of many that are named at once no more are
    looked for than may be wrong. The others wait until it is known of those, so that fifty who come to a party at one
    moment all get in.

    What all have is halved between strangers and client networks that have named right codes before: whoever guesses
    from a thousand addresses uses up the strangers' half, and a family that plays here is not kept out. Each right code
    is good for one miss from the other half.
    """

    def __init__(self, per_minute: float, per_s: float) -> None:
        self._at = AddressBuckets(per_minute / 60, per_minute)
        self._strangers = Bucket(per_s / 2, max(1.0, per_s / 2))
        self._trusted = Bucket(per_s / 2, max(1.0, per_s / 2))
        self._trust: OrderedDict[str, int] = OrderedDict()
        self._looked_for: dict[Bucket, int] = {}
        """How many tokens of each bucket may still be given back."""
        self._known = asyncio.Event()
        """It is known of one more whether it was right."""

    @asynccontextmanager
    async def name(self, address: str, clock: Clock) -> AsyncIterator[Guess | None]:
        """A code is named from there: a miss, unless it is said to be right, or an error keeps anybody from saying.

        None where no more may be named.
        """
        until_us = clock.now_us() + LONGEST_WAIT_US
        while (guess := self._charge(address, clock.now_us())) is None and self._may_be_given_back(
            address, clock, until_us
        ):
            await self._known.wait()
        if guess is None:
            yield None
            return
        give_back = False
        try:
            yield guess
            give_back = guess.right
        except Exception:
            give_back = True
            raise
        finally:
            self._settle(guess, give_back)
        if guess.right:
            self._trust_more(guess.of)

    def _buckets(self, address: str) -> tuple[Bucket, ...]:
        trusted = client_network(address) in self._trust
        return (*self._at.of(address), self._trusted if trusted else self._strangers)

    def _may_be_given_back(self, address: str, clock: Clock, until_us: int) -> bool:
        """Whether each token that is missing is one of a code that is still looked for, and there is time to wait."""
        now_us = clock.now_us()
        return now_us < until_us and all(
            bucket.left(now_us) >= 1 or self._looked_for.get(bucket) for bucket in self._buckets(address)
        )

    def _charge(self, address: str, now_us: int) -> Guess | None:
        charged = self._buckets(address)
        if any(bucket.left(now_us) < 1 for bucket in charged):
            return None
        for bucket in charged:
            bucket.take(now_us)
            self._looked_for[bucket] = self._looked_for.get(bucket, 0) + 1
        network = client_network(address)
        trust = self._trust.pop(network, 0)
        if trust > 1:
            self._trust[network] = trust - 1
        return Guess(network, charged)

    def _settle(self, guess: Guess, give_back: bool) -> None:
        for bucket in guess.charged:
            self._looked_for[bucket] -= 1
            if not self._looked_for[bucket]:
                del self._looked_for[bucket]
            if give_back:
                bucket.give_back()
        if give_back and guess.charged[-1] is self._trusted:
            self._trust_more(guess.of)
        self._known.set()
        self._known = asyncio.Event()

    def _trust_more(self, network: str) -> None:
        self._trust[network] = min(MOST_TRUST, self._trust.pop(network, 0) + 1)
        if len(self._trust) > MOST_ADDRESSES:
            self._trust.popitem(last=False)
