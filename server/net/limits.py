"""Token buckets and counts, and who shares one. Knows addresses and instants; decides nothing else."""

import ipaddress
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

MOST_ADDRESSES = 10_000
MOST_TRUST = 5


class Bucket:
    """Holds up to `burst` tokens and gains `per_s` of them a second."""

    __slots__ = ("_burst", "_per_us", "_since_us", "_tokens")

    def __init__(self, per_s: float, burst: float) -> None:
        self._per_us = per_s / 1e6
        self._burst = burst
        self._tokens = burst
        self._since_us = 0

    def left(self, now_us: int) -> float:
        """The tokens there are now."""
        self._tokens = min(self._burst, self._tokens + (now_us - self._since_us) * self._per_us)
        self._since_us = now_us
        return self._tokens

    def take(self, now_us: int) -> bool:
        """Takes a token; False where there is none."""
        tokens = self.left(now_us)
        if tokens < 1:
            return False
        self._tokens = tokens - 1
        return True

    def give_back(self) -> None:
        """What was taken was not used."""
        self._tokens = min(self._burst, self._tokens + 1)


class AddressBuckets:
    """A bucket for each network address, the longest unused forgotten first so that it cannot grow."""

    def __init__(self, per_s: float, burst: float) -> None:
        self._per_s = per_s
        self._burst = burst
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def of(self, address: str) -> Bucket:
        """The bucket of everybody behind that address."""
        key = client_network(address)
        bucket = self._buckets.pop(key, None) or Bucket(self._per_s, self._burst)
        self._buckets[key] = bucket
        if len(self._buckets) > MOST_ADDRESSES:
            self._buckets.popitem(last=False)
        return bucket


class Count:
    """How many there are at once: no more than `most` in all, and `most_each` from one household."""

    def __init__(self, most: int, most_each: int) -> None:
        self._most = most
        self._most_each = most_each
        self._all = 0
        self._each: dict[str, int] = {}

    def full(self) -> bool:
        """Whether there are as many as there may be."""
        return self._all >= self._most

    def full_for(self, address: str) -> bool:
        """Whether there are as many from that household as there may be."""
        return self._each.get(client_network(address), 0) >= self._most_each

    def enter(self, address: str) -> None:
        """One more is there."""
        key = client_network(address)
        self._all += 1
        self._each[key] = self._each.get(key, 0) + 1

    def leave(self, address: str) -> None:
        """One that was there is gone."""
        key = client_network(address)
        self._all -= 1
        self._each[key] -= 1
        if not self._each[key]:
            del self._each[key]


@dataclass(slots=True)
class Guess:
    """A code that is being looked for: a miss that was charged to these, until it is said to be `right`."""

    of: str
    charged: tuple[Bucket, Bucket]
    right: bool = False


class Guesses:
    """How often codes may be guessed. Only misses are charged, to the household and to all.

    They are charged when a code is named, and given back when it was right: of many that are named at once no more are
    looked for than may be wrong.

    What all have is halved between strangers and households that have named right codes before: whoever guesses from
    a thousand addresses uses up the strangers' half, and a family that plays here is not kept out. Each right code is
    good for one miss from the other half.
    """

    def __init__(self, per_minute: float, per_s: float) -> None:
        self._at = AddressBuckets(per_minute / 60, per_minute)
        self._strangers = Bucket(per_s / 2, max(1.0, per_s / 2))
        self._trusted = Bucket(per_s / 2, max(1.0, per_s / 2))
        self._trust: OrderedDict[str, int] = OrderedDict()

    @contextmanager
    def name(self, address: str, now_us: int) -> Iterator[Guess | None]:
        """A code is named from there: a miss, unless it is said to be right, or an error keeps anybody from saying.

        None where no more may be named.
        """
        guess = self._charge(address, now_us)
        try:
            yield guess
        except Exception:
            if guess is not None:
                self._give_back(guess)
            raise
        if guess is not None and guess.right:
            self._give_back(guess)
            self._trust_more(guess.of)

    def _charge(self, address: str, now_us: int) -> Guess | None:
        key = client_network(address)
        charged = self._at.of(address), self._trusted if key in self._trust else self._strangers
        if any(bucket.left(now_us) < 1 for bucket in charged):
            return None
        for bucket in charged:
            bucket.take(now_us)
        trust = self._trust.pop(key, 0)
        if trust > 1:
            self._trust[key] = trust - 1
        return Guess(key, charged)

    def _give_back(self, guess: Guess) -> None:
        for bucket in guess.charged:
            bucket.give_back()
        if guess.charged[1] is self._trusted:
            self._trust_more(guess.of)

    def _trust_more(self, client_network: str) -> None:
        self._trust[client_network] = min(MOST_TRUST, self._trust.pop(client_network, 0) + 1)
        if len(self._trust) > MOST_ADDRESSES:
            self._trust.popitem(last=False)


SITE = 56
"""The IPv6 prefix that is taken for a household: sites usually have a /56 or a /48 (RFC 6177 section 2 advises against
a single /64), so that by /64 each would be 256 households or more. Where every phone has a /64, as in mobile networks
(RFC 7278), neighbours share one."""


def client_network(address: str) -> str:
    """What one family has: an IPv4 address, or an IPv6 /56."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return str(ip.ipv4_mapped)
        return str(ipaddress.ip_network((ip, SITE), strict=False))
    return address
