"""Token buckets, and who shares one (reliability 17)."""

import pytest

from server import limits
from server.limits import AddressBuckets, Bucket, household

S = 1_000_000
START_US = 5_000 * S


def takes(bucket: Bucket, times: int, now_us: int) -> int:
    """How many of so many tries at one instant succeed."""
    return sum(bucket.take(now_us) for _ in range(times))


def test_a_bucket_gives_its_burst_and_then_as_many_a_second_as_it_gains() -> None:
    bucket = Bucket(per_s=10, burst=30)
    assert takes(bucket, 100, START_US) == 30
    assert takes(bucket, 100, START_US + S // 2) == 5
    assert takes(bucket, 100, START_US + S // 2) == 0
    assert takes(bucket, 1, START_US + S // 2 + 99_999) == 0
    assert takes(bucket, 1, START_US + S // 2 + 100_001) == 1


def test_a_bucket_never_holds_more_than_its_burst() -> None:
    bucket = Bucket(per_s=10, burst=3)
    assert bucket.left(START_US) == 3
    assert bucket.left(START_US + 3600 * S) == 3
    assert takes(bucket, 100, START_US + 3600 * S) == 3


def test_looking_takes_nothing() -> None:
    bucket = Bucket(per_s=1, burst=1)
    assert all(bucket.left(START_US) == 1 for _ in range(10))
    assert bucket.take(START_US)
    assert bucket.left(START_US) == 0
    assert bucket.left(START_US + S // 4) == 0.25


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("192.0.2.7", "::ffff:192.0.2.7"),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"),
        ("2001:db8:1:2::1", "2001:0DB8:0001:0002:0000::5"),
        ("fe80::1%eth0", "fe80::2%eth0"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_a_household_shares_a_bucket(one: str, other: str) -> None:
    buckets = AddressBuckets(per_s=1, burst=1)
    assert household(one) == household(other)
    assert buckets.of(one).take(START_US)
    assert not buckets.of(other).take(START_US)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("192.0.2.7", "192.0.2.8"),
        ("2001:db8:1:2::1", "2001:db8:1:3::1"),
        ("::ffff:192.0.2.7", "::ffff:192.0.2.8"),
        ("::1", "127.0.0.1"),
        ("testclient", ""),
    ],
)
def test_different_households_do_not_share(one: str, other: str) -> None:
    buckets = AddressBuckets(per_s=1, burst=1)
    assert buckets.of(one).take(START_US)
    assert buckets.of(other).take(START_US)


def test_the_address_unused_for_longest_is_forgotten_first() -> None:
    buckets = AddressBuckets(per_s=0.001, burst=1)
    for number in range(limits.MOST_ADDRESSES):
        assert buckets.of(f"address {number}").take(START_US)
    assert not buckets.of("address 0").take(START_US)
    assert buckets.of("one more").take(START_US)
    assert not buckets.of("address 0").take(START_US)
    assert buckets.of("address 1").take(START_US), "forgotten, so it starts anew"
