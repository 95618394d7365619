"""Token buckets, and who shares one (reliability 17)."""

import asyncio
from dataclasses import dataclass

import pytest

from server.base.ports import Clock
from server.net import guessing, limits
from server.net.guessing import Guesses
from server.net.limits import AddressBuckets, Bucket, Count, client_network
from server.store.port import StoreDown

S = 1_000_000
START_US = 5_000 * S


def address(nth: int) -> str:
    """One of many."""
    return f"10.{nth >> 16}.{nth >> 8 & 255}.{nth & 255}"


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
        ("2001:db8:1:200::1", "2001:db8:1:200:ffff:ffff:ffff:ffff"),
        ("2001:db8:1:2::1", "2001:0DB8:0001:0002:0000::5"),
        ("fe80::1%eth0", "fe80::2%eth0"),
        ("testclient", "testclient"),
        ("", ""),
        ("testclient", ""),
        ("no address 1", "no address 2"),
    ],
)
def test_a_household_shares_a_bucket(one: str, other: str) -> None:
    buckets = AddressBuckets(per_s=1, burst=1)
    assert client_network(one) == client_network(other)
    assert buckets.take(one, START_US)
    assert not buckets.take(other, START_US)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("192.0.2.7", "192.0.2.8"),
        ("2001:db8:1:2ff::1", "2001:db8:1:300::1"),
        ("::ffff:192.0.2.7", "::ffff:192.0.2.8"),
        ("::1", "127.0.0.1"),
        ("2001:db8:1:2::1", "2001:db8:1:3::1"),
        ("testclient", "192.0.2.8"),
    ],
)
def test_different_households_do_not_share(one: str, other: str) -> None:
    buckets = AddressBuckets(per_s=1, burst=1)
    assert buckets.take(one, START_US)
    assert buckets.take(other, START_US)


def test_the_address_unused_for_longest_is_forgotten_first() -> None:
    buckets = AddressBuckets(per_s=0.001, burst=1)
    for number in range(limits.MOST_ADDRESSES):
        assert buckets.take(address(number), START_US)
    assert not buckets.take(address(0), START_US)
    assert buckets.take("192.0.2.1", START_US)
    assert not buckets.take(address(0), START_US)
    assert buckets.take(address(1), START_US), "forgotten, so it starts anew"


def test_all_networks_of_a_site_have_no_more_than_a_few_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has a /48 has 65,536 networks; who has one of them is a neighbour of some."""
    buckets = AddressBuckets(per_s=1, burst=10)
    assert sum(buckets.take(f"2001:db8:1:{nth:x}::1", START_US) for nth in range(1_000)) == 10 * limits.SITES
    assert not buckets.allows("2001:db8:1:ffff::1", START_US)
    assert buckets.allows("2001:db8:2::1", START_US)


# --- how many there are ------------------------------------------------------------------------------------------


def test_as_many_as_may_be_in_all_and_from_one_household() -> None:
    count = Count(3, 2)
    for mine in ("2001:db8:1:2::1", "2001:db8:1:2::2"):
        assert not count.full_for(mine)
        count.enter(mine)
    assert count.full_for("2001:db8:1:2::3"), "a client network has a whole /64"
    assert not count.full_for("2001:db8:1:3::3")
    assert not count.full_for("192.0.2.7")
    assert not count.full()
    count.enter("192.0.2.7")
    assert count.full()
    count.leave("2001:db8:1:2::2")
    assert not count.full()
    assert not count.full_for("2001:db8:1:2::3")


# --- guessing ----------------------------------------------------------------------------------------------------


@dataclass
class At(Clock):
    """A clock that stands."""

    us: int

    def now_us(self) -> int:
        return self.us

    def worked_us(self) -> int:
        return 0


async def may_name(guesses: Guesses, address: str, now_us: int) -> bool:
    """Whether a code may be named from there; if so a wrong one has been."""
    async with guesses.name(address, At(now_us)) as guess:
        return guess is not None


async def misses(guesses: Guesses, address: str, now_us: int) -> int:
    """How many wrong codes may be named from there at one instant."""
    said = 0
    while await may_name(guesses, address, now_us):
        said += 1
    return said


async def finds(guesses: Guesses, address: str, now_us: int) -> None:
    """Names a right code."""
    async with guesses.name(address, At(now_us)) as guess:
        assert guess is not None
        guess.right = True


async def looked_for(guesses: Guesses, known: asyncio.Event, right: bool) -> bool:
    """Names a code of which it is known later whether it is right; whether it might be named."""
    async with guesses.name("192.0.2.7", At(START_US)) as guess:
        if guess is None:
            return False
        await known.wait()
        guess.right = right
        return True


@pytest.mark.parametrize(("right", "named"), [(True, 50), (False, 2)])
async def test_of_many_at_one_moment_no_more_are_looked_for_than_may_be_wrong(right: bool, named: int) -> None:
    """So fifty who come to a party all get in, however few may be wrong; and no more than that few if they guess."""
    guesses, known = Guesses(per_minute=2, per_s=1_000), asyncio.Event()
    several = [asyncio.create_task(looked_for(guesses, known, right)) for _ in range(50)]
    await asyncio.sleep(0)
    assert sum(guesses._looked_for.values()) == 2 * 2, "of the client network's bucket, and of all"
    known.set()
    assert sum(await asyncio.gather(*several)) == named
    assert not guesses._looked_for


async def test_nobody_waits_for_long_to_hear_of_others_codes() -> None:
    guesses, known, clock = Guesses(per_minute=1, per_s=1_000), asyncio.Event(), At(START_US)
    first = asyncio.create_task(looked_for(guesses, known, True))
    await asyncio.sleep(0)

    async def comes() -> bool:
        async with guesses.name("192.0.2.7", clock) as guess:
            return guess is not None

    second = asyncio.create_task(comes())
    await asyncio.sleep(0)
    clock.us += guessing.LONGEST_WAIT_US
    await finds(guesses, "203.0.113.1", START_US)
    assert not await second
    known.set()
    assert await first


async def test_where_nobody_can_say_it_is_no_miss() -> None:
    guesses = Guesses(per_minute=2, per_s=1_000)
    with pytest.raises(StoreDown):
        async with guesses.name("192.0.2.7", At(START_US)):
            raise StoreDown("away")
    assert await misses(guesses, "192.0.2.7", START_US) == 2


async def test_right_codes_cost_nothing_and_are_trusted_so_far() -> None:
    guesses = Guesses(per_minute=1_000, per_s=100)
    for _ in range(200):
        await finds(guesses, "192.0.2.7", START_US)
    assert await misses(guesses, "203.0.113.1", START_US) == 50
    assert await misses(guesses, "192.0.2.7", START_US) == guessing.MOST_TRUST
    assert await misses(guesses, "203.0.113.1", START_US) == 0


async def test_a_household_has_so_many_misses_a_minute() -> None:
    guesses = Guesses(per_minute=10, per_s=1_000)
    assert await misses(guesses, "192.0.2.7", START_US) == 10
    assert await misses(guesses, "192.0.2.7", START_US + 6 * S + 1) == 1
    assert await misses(guesses, "192.0.2.8", START_US + 6 * S + 1) == 10


async def test_who_guesses_from_everywhere_keeps_no_family_out_that_plays_here() -> None:
    guesses = Guesses(per_minute=10, per_s=10)
    await finds(guesses, "192.0.2.7", START_US - S)
    assert sum([await misses(guesses, f"203.0.113.{nth}", START_US) for nth in range(100)]) == 5
    assert not await may_name(guesses, "203.0.113.200", START_US), "a stranger waits"
    assert await may_name(guesses, "192.0.2.7", START_US)
    assert not await may_name(guesses, "192.0.2.7", START_US), "and whoever has used up their trust"
    assert sum([await misses(guesses, f"203.0.113.{nth}", START_US + 10 * S) for nth in range(100)]) == 5


async def test_with_any_trust_there_are_no_more_misses_in_all() -> None:
    guesses = Guesses(per_minute=1_000, per_s=10)
    said = 0
    for tenth in range(100):
        for nth in range(20):
            async with guesses.name(f"192.0.2.{nth}", At(START_US + tenth * S // 10)) as guess:
                if guess is not None:
                    guess.right = True
            said += await misses(guesses, f"192.0.2.{nth}", START_US + tenth * S // 10)
            said += await misses(guesses, f"203.0.113.{nth}", START_US + tenth * S // 10)
    assert said <= 10 * 10 + 10


async def test_the_trust_unused_for_longest_is_forgotten_first() -> None:
    strangers = Guesses(per_minute=10, per_s=2)
    await finds(strangers, "2001:db8::1", START_US)
    for nth in range(limits.MOST_ADDRESSES):
        await finds(strangers, address(nth), START_US)
    assert await may_name(strangers, "2001:db8::2:1", START_US)
    assert not await may_name(strangers, "2001:db8::1", START_US), "forgotten: a stranger among strangers"
    assert await may_name(strangers, address(1), START_US)
