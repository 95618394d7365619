"""Token buckets, and who shares one. Knows addresses and instants; decides nothing else."""

import ipaddress
from collections import OrderedDict

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


class AddressBuckets:
    """A bucket for each network address, the longest unused forgotten first so that it cannot grow."""

    def __init__(self, per_s: float, burst: float) -> None:
        self._per_s = per_s
        self._burst = burst
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def of(self, address: str) -> Bucket:
        """The bucket of everybody behind that address."""
        key = household(address)
        bucket = self._buckets.pop(key, None) or Bucket(self._per_s, self._burst)
        self._buckets[key] = bucket
        if len(self._buckets) > MOST_ADDRESSES:
            self._buckets.popitem(last=False)
        return bucket


def household(address: str) -> str:
    """What one family has: an IPv4 address, or an IPv6 /64 (RFC 6177)."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return str(ip.ipv4_mapped)
        return str(ipaddress.ip_network((ip, 64), strict=False))
    return address
