"""Token buckets, and who shares one (reliability 17)."""

import pytest

from server.net import limits
from server.net.limits import AddressBuckets, Bucket, Count, Guesses, client_network
from server.store.port import StoreDown

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
        ("2001:db8:1:200::1", "2001:db8:1:2ff:ffff:ffff:ffff:ffff"),
        ("2001:db8:1:2::1", "2001:0DB8:0001:0002:0000::5"),
        ("fe80::1%eth0", "fe80::2%eth0"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_a_household_shares_a_bucket(one: str, other: str) -> None:
    buckets = AddressBuckets(per_s=1, burst=1)
    assert client_network(one) == client_network(other)
    assert buckets.of(one).take(START_US)
    assert not buckets.of(other).take(START_US)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("192.0.2.7", "192.0.2.8"),
        ("2001:db8:1:2ff::1", "2001:db8:1:300::1"),
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


# --- how many there are ------------------------------------------------------------------------------------------


def test_as_many_as_may_be_in_all_and_from_one_household() -> None:
    count = Count(3, 2)
    for address in ("2001:db8:1:2::1", "2001:db8:1:2::2"):
        assert not count.full_for(address)
        count.enter(address)
    assert count.full_for("2001:db8:1:3::3"), "a household has a whole /56"
    assert not count.full_for("192.0.2.7")
    assert not count.full()
    count.enter("192.0.2.7")
    assert count.full()
    count.leave("2001:db8:1:2::2")
    assert not count.full()
    assert not count.full_for("2001:db8:1:2::3")


# --- guessing ----------------------------------------------------------------------------------------------------


def may_name(guesses: Guesses, address: str, now_us: int) -> bool:
    """Whether a code may be named from there; if so a wrong one has been."""
    with guesses.name(address, now_us) as guess:
        return guess is not None


def misses(guesses: Guesses, address: str, now_us: int) -> int:
    """How many wrong codes may be named from there at one instant."""
    said = 0
    while may_name(guesses, address, now_us):
        said += 1
    return said


def finds(guesses: Guesses, address: str, now_us: int) -> None:
    """Names a right code."""
    with guesses.name(address, now_us) as guess:
        assert guess is not None
        guess.right = True


def test_what_is_being_looked_for_counts_as_a_miss_until_it_is_found() -> None:
    guesses = Guesses(per_minute=2, per_s=1_000)
    with guesses.name("192.0.2.7", START_US) as first, guesses.name("192.0.2.7", START_US) as second:
        assert first and second
        assert not may_name(guesses, "192.0.2.7", START_US)
        first.right = second.right = True
    assert misses(guesses, "192.0.2.7", START_US) == 2


def test_where_nobody_can_say_it_is_no_miss() -> None:
    guesses = Guesses(per_minute=2, per_s=1_000)
    with pytest.raises(StoreDown), guesses.name("192.0.2.7", START_US):
        raise StoreDown("away")
    assert misses(guesses, "192.0.2.7", START_US) == 2


def test_right_codes_cost_nothing_and_are_trusted_so_far() -> None:
    guesses = Guesses(per_minute=1_000, per_s=100)
    for _ in range(200):
        finds(guesses, "192.0.2.7", START_US)
    assert misses(guesses, "203.0.113.1", START_US) == 50
    assert misses(guesses, "192.0.2.7", START_US) == limits.MOST_TRUST
    assert misses(guesses, "203.0.113.1", START_US) == 0


def test_a_household_has_so_many_misses_a_minute() -> None:
    guesses = Guesses(per_minute=10, per_s=1_000)
    assert misses(guesses, "192.0.2.7", START_US) == 10
    assert misses(guesses, "192.0.2.7", START_US + 6 * S + 1) == 1
    assert misses(guesses, "192.0.2.8", START_US + 6 * S + 1) == 10


def test_who_guesses_from_everywhere_keeps_no_family_out_that_plays_here() -> None:
    guesses = Guesses(per_minute=10, per_s=10)
    finds(guesses, "192.0.2.7", START_US - S)
    assert sum(misses(guesses, f"203.0.113.{nth}", START_US) for nth in range(100)) == 5
    assert not may_name(guesses, "203.0.113.200", START_US), "a stranger waits"
    assert may_name(guesses, "192.0.2.7", START_US)
    assert not may_name(guesses, "192.0.2.7", START_US), "and whoever has used up their trust"
    assert sum(misses(guesses, f"203.0.113.{nth}", START_US + 10 * S) for nth in range(100)) == 5


def test_with_any_trust_there_are_no_more_misses_in_all() -> None:
    guesses = Guesses(per_minute=1_000, per_s=10)
    said = 0
    for tenth in range(100):
        for nth in range(20):
            with guesses.name(f"192.0.2.{nth}", START_US + tenth * S // 10) as guess:
                if guess is not None:
                    guess.right = True
            said += misses(guesses, f"192.0.2.{nth}", START_US + tenth * S // 10)
            said += misses(guesses, f"203.0.113.{nth}", START_US + tenth * S // 10)
    assert said <= 10 * 10 + 10


def test_the_trust_unused_for_longest_is_forgotten_first() -> None:
    strangers = Guesses(per_minute=10, per_s=2)
    finds(strangers, "a", START_US)
    for nth in range(limits.MOST_ADDRESSES):
        finds(strangers, f"address {nth}", START_US)
    assert may_name(strangers, "b", START_US)
    assert not may_name(strangers, "a", START_US), "forgotten: a stranger among strangers"
    assert may_name(strangers, "address 1", START_US)
