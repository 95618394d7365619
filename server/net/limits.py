"""Token buckets and counts, and who shares one. Knows addresses and instants; decides nothing else."""

import ipaddress
from collections import OrderedDict
from collections.abc import Collection
from functools import lru_cache

from server.base.settings import Network

MOST_ADDRESSES = 10_000


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
    """A bucket for each client network, the longest unused forgotten first so that it cannot grow."""

    def __init__(self, per_s: float, burst: float) -> None:
        self._per_s = per_s
        self._burst = burst
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def of(self, address: str) -> tuple[Bucket, ...]:
        """The buckets that whoever is behind that address shares, the narrowest first."""
        return tuple(self._bucket(network, share) for network, share in shared(address))

    def take(self, address: str, now_us: int) -> bool:
        """Takes a token from each of them; False where one has none."""
        buckets = self.of(address)
        return all(bucket.left(now_us) >= 1 for bucket in buckets) and all(bucket.take(now_us) for bucket in buckets)

    def allows(self, address: str, now_us: int) -> bool:
        """Whether a token could be taken."""
        known = (self._buckets.get(network) for network, _ in shared(address))
        return all(bucket is None or bucket.left(now_us) >= 1 for bucket in known)

    def _bucket(self, network: str, share: int) -> Bucket:
        bucket = self._buckets.pop(network, None) or Bucket(self._per_s * share, self._burst * share)
        self._buckets[network] = bucket
        if len(self._buckets) > MOST_ADDRESSES:
            self._buckets.popitem(last=False)
        return bucket


class Count:
    """How many there are at once: no more than `most` in all, and `most_each` from one client network."""

    def __init__(self, most: int, most_each: int) -> None:
        self._most = most
        self._most_each = most_each
        self._all = 0
        self._each: dict[str, int] = {}

    def full(self) -> bool:
        """Whether there are as many as there may be."""
        return self._all >= self._most

    def full_for(self, address: str) -> bool:
        """Whether there are as many from that client network as there may be."""
        return any(self._each.get(network, 0) >= self._most_each * share for network, share in shared(address))

    def enter(self, address: str) -> None:
        """One more is there."""
        self._all += 1
        for network, _ in shared(address):
            self._each[network] = self._each.get(network, 0) + 1

    def leave(self, address: str) -> None:
        """One that was there is gone."""
        self._all -= 1
        for network, _ in shared(address):
            self._each[network] -= 1
            if not self._each[network]:
                del self._each[network]


LEAST_SITE, USUAL_SITE = 64, 48
"""IPv6 prefixes that one customer may have (RFC 6177, RFC 7934): at least the one, at most the other."""
SITES = 4
"""A /48 may do as much as so many of its /64: enough for neighbours who share one, and no use to somebody alone."""
NOWHERE = "no address"


@lru_cache(maxsize=4096)
def shared(address: str) -> tuple[tuple[str, int], ...]:
    """The networks whose limits hold for that address, the narrowest first, each with its share: so many times over."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return ((NOWHERE, 1),)  # a proxy may pass on whatever it is told, and that is anything
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is None:
            prefixes = ((LEAST_SITE, 1), (USUAL_SITE, SITES))
            return tuple((str(ipaddress.ip_network((ip, prefix), strict=False)), share) for prefix, share in prefixes)
        ip = ip.ipv4_mapped
    return ((str(ip), 1),)


def client_network(address: str) -> str:
    """What one family has at least: an IPv4 address, or an IPv6 /64."""
    return shared(address)[0][0]


@lru_cache(maxsize=4096)
def within(address: str, networks: Collection[Network]) -> bool:
    """Whether that address is in one of those networks."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(ip in network for network in networks)
