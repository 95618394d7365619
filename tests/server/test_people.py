"""Who somebody is: devices and persons, the cookie, moving to another phone, and being forgotten."""

import asyncio
from http.cookies import SimpleCookie
from typing import Any

import httpx
import pytest
from starlette.requests import Request

from engine.rules import GameName
from server.base.keys import hash_of, new_key
from server.hosting.forgetting import forget
from server.hosting.host import resumed_game
from server.net.http import Denied, read_body
from server.store.people import LINK_S
from server.store.port import StoreDown
from server.table.journal import replay
from server.table.records import Change, Played, Result, Score, TableRecord, Tournament
from server.web.people import Introduction, read_recovery_code
from tests.server.web import Web
from tests.server.world import CODE, S, Table
from wire.codes import CODE_SYMBOLS
from wire.figures import By, Span
from wire.messages import Quit


async def meet(browser: httpx.AsyncClient, **said: str) -> dict[str, Any]:
    """Says who this is; gives who the server says it is."""
    answer = await browser.post("/api/me", json=said)
    assert answer.status_code == 200, answer.text
    me: dict[str, Any] = answer.json()
    return me


def cookie(answer: httpx.Response) -> Any:
    """The cookie that an answer sets."""
    return SimpleCookie(answer.headers["set-cookie"])["slapjack"]


async def refused(answer: Any) -> tuple[int, str]:
    """The status and reason of a question that was not answered."""
    response = await answer
    assert set(response.json()) == {"error", "text"}
    return response.status_code, response.json()["error"]


# --- who you are -------------------------------------------------------------------------------------------------


async def test_a_newcomer_gets_a_key_and_is_known_by_it(web: Web) -> None:
    browser = web.browser()
    me = await meet(browser)
    assert me == {"key": me["key"], "name": "", "face": "", "linked": False, "devices": 0, "recovery": False}
    assert len(me["key"]) == 32
    assert await web.redis.keys("*") == [], "nothing is kept of somebody who has said nothing"
    await meet(browser, key=me["key"], name="  Anna  ", face="🦊")
    assert await meet(browser) == {**me, "name": "Anna", "face": "🦊"}
    assert (await meet(web.browser()))["key"] != me["key"]


async def test_whoever_goes_while_they_say_something_is_no_error_of_ours() -> None:
    said = iter([{"type": "http.request", "body": b'{"name": ', "more_body": True}, {"type": "http.disconnect"}])

    async def receive() -> Any:
        return next(said)

    with pytest.raises(Denied, match="breaks off"):
        await read_body(Request({"type": "http", "headers": []}, receive), Introduction)


async def test_the_secret_is_kept_as_its_hash_alone(web: Web) -> None:
    me = await meet(web.browser(), name="Anna", face="🦊")
    browser = web.browser()
    token = (await browser.post("/api/me/link", headers=bearer(me))).json()["token"]
    code = (await browser.post("/api/me/recovery", headers=bearer(me))).json()["code"].replace("-", "")
    for key in await web.redis.keys("*"):
        for secret in (me["key"], token, code):
            assert secret.encode() not in key
            assert secret.encode() not in (await web.redis.dump(key) or b"")


def bearer(me: dict[str, Any]) -> dict[str, str]:
    """The header that says who is asking."""
    return {"authorization": f"Bearer {me['key']}"}


async def test_a_browser_that_has_lost_its_storage_gets_its_key_back_from_the_cookie(web: Web) -> None:
    browser = web.browser()
    me = await meet(browser, name="Anna", face="🦊")
    assert await meet(browser) == me


async def test_what_storage_says_goes_before_the_cookie(web: Web) -> None:
    browser = web.browser()
    await meet(browser, name="Anna", face="🦊")
    other = await meet(web.browser(), name="Ben", face="🐻")
    assert await meet(browser, key=other["key"]) == other
    assert await meet(browser) == other


@pytest.mark.parametrize(
    ("url", "public_url", "secure"),
    [
        ("http://192.168.1.20:8000", "", False),
        ("http://192.168.1.20:8000", "https://table.example", False),
        ("http://table.example", "https://table.example", True),  # behind a proxy that speaks https
        ("https://table.local", "", True),
    ],
)
async def test_the_cookie_lasts_a_year_and_no_script_reads_it(
    web: Web, url: str, public_url: str, secure: bool
) -> None:
    browser = web.browser(url, public_url=public_url)
    browser.headers["origin"] = public_url if secure and public_url else url
    set_to = cookie(await browser.post("/api/me", json={}))
    assert set_to["httponly"]
    assert set_to["samesite"] == "lax"
    assert set_to["path"] == "/"
    assert set_to["max-age"] == str(365 * 86_400)
    assert bool(set_to["secure"]) == secure


async def test_a_visit_makes_the_cookie_last_another_year(web: Web) -> None:
    browser = web.browser()
    assert "set-cookie" not in (await browser.get("/")).headers
    me = await meet(browser)
    for path in ("/", f"/t/{CODE}"):
        answer = await browser.get(path)
        if answer.status_code == 200:  # the page may not have been built
            assert cookie(answer).value == me["key"]
            assert cookie(answer)["max-age"] == str(365 * 86_400)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"not json", "malformed"),
        (b"[]", "malformed"),
        (b'{"key": 7}', "malformed"),
        (b'{"colour": "red"}', "malformed"),
        (b'{"key": "short"}', "bad_key"),
        (b'{"key": "only;letters,digits and-dashes"}', "bad_key"),
        (b'{"key": "' + b"k" * 65 + b'"}', "bad_key"),
        (b'{"name": "<b>Anna"}', "bad_name"),
        (b'{"name": "' + b"A" * 100 + b'"}', "bad_name"),
        (b'"\xff"', "malformed"),
    ],
)
async def test_what_cannot_be_read_changes_nothing(web: Web, body: bytes, reason: str) -> None:
    assert await refused(web.browser().post("/api/me", content=body)) == (400, reason)
    assert await web.redis.keys("*") == []


async def test_a_body_without_end_is_cut_off(web: Web) -> None:
    assert await refused(web.browser().post("/api/me", content=b" " * 5000)) == (413, "too_long")


async def test_another_page_learns_and_does_nothing(web: Web) -> None:
    browser = web.browser()
    await meet(browser, name="Anna", face="🦊")
    browser.headers["origin"] = "http://evil.example"
    for method, path in [
        *[("POST", path) for path in ("/api/me", "/api/me/link", "/api/me/recovery", "/api/me/move", "/api/me/unlink")],
        *[("DELETE", "/api/me"), ("GET", "/api/leaderboard")],
    ]:
        answer = await browser.request(method, path)
        assert (answer.status_code, answer.json()["error"]) == (403, "foreign_origin"), path
    browser.headers["origin"] = "http://table.local"
    assert (await meet(browser))["name"] == "Anna"


async def test_whoever_asks_too_much_has_to_wait(web: Web) -> None:
    browser, neighbour = web.browser(), web.browser(address="198.51.100.9")
    statuses = [(await browser.post("/api/me", json={})).status_code for _ in range(130)]
    assert statuses == [200] * 120 + [429] * 10
    assert (await neighbour.post("/api/me", json={})).status_code == 200
    web.time_us += 60 * S
    assert (await browser.post("/api/me", json={})).status_code == 200


@pytest.mark.parametrize("path", ["/api/me/link", "/api/me/recovery", "/api/me/move", "/api/me/unlink", "/api/me"])
async def test_whoever_is_not_known_is_told_so(web: Web, path: str) -> None:
    method = "DELETE" if path == "/api/me" else "POST"
    json = {"token": "x"} if path.endswith("move") else None
    assert await refused(web.browser().request(method, path, json=json)) == (401, "no_key")
    headers = {"authorization": "Bearer no key of ours"}
    assert await refused(web.browser().request(method, path, json=json, headers=headers)) == (401, "no_key")


# --- moving to another phone -------------------------------------------------------------------------------------


class Devices:
    """Two browsers, each somebody of their own to begin with."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.old, self.new = web.browser(), web.browser(address="198.51.100.9")

    async def link(self) -> str:
        """A token from the old one."""
        answer = await self.old.post("/api/me/link")
        assert answer.status_code == 201
        assert answer.json()["expires_s"] == LINK_S == 600
        token: str = answer.json()["token"]
        return token

    async def code(self) -> str:
        """A recovery code from the old one."""
        answer = await self.old.post("/api/me/recovery")
        assert answer.status_code == 201
        code: str = answer.json()["code"]
        return code

    async def move(self, **way: str) -> dict[str, Any]:
        """The new one takes that way."""
        answer = await self.new.post("/api/me/move", json=way)
        assert answer.status_code == 200, answer.text
        moved: dict[str, Any] = answer.json()
        return moved


@pytest.fixture
async def devices(web: Web) -> Devices:
    both = Devices(web)
    await meet(both.old, name="Anna", face="🦊")
    await meet(both.new)
    return both


@pytest.mark.parametrize("way", ["token", "code"])
async def test_a_person_comes_to_another_device(devices: Devices, web: Web, way: str) -> None:
    old, new = await meet(devices.old), await meet(devices.new)
    lead = await devices.link() if way == "token" else await devices.code()
    moved = await devices.move(**{way: lead})
    assert moved["was"] is None
    assert moved["me"] == {**new, "name": "Anna", "face": "🦊", "linked": True, "devices": 1, "recovery": way == "code"}
    # Each keeps its own secret, and both are one person.
    assert await web.store.person_of(hash_of(new["key"])) == hash_of(old["key"])
    assert await web.store.person_of(hash_of(old["key"])) == hash_of(old["key"])
    await meet(devices.new, name="Anna K.", face="🐻")
    assert (await meet(devices.old))["name"] == "Anna K."


async def test_a_link_is_used_once(devices: Devices) -> None:
    token = await devices.link()
    await devices.move(token=token)
    assert await refused(devices.new.post("/api/me/move", json={"token": token})) == (404, "leads_nowhere")


async def test_of_many_who_scan_a_link_at_once_one_gets_in(devices: Devices, web: Web) -> None:
    token = await devices.link()
    browsers = [web.browser(address=f"198.51.100.{nth}") for nth in range(20)]
    for browser in browsers:
        await meet(browser)
    answers = await asyncio.gather(*(browser.post("/api/me/move", json={"token": token}) for browser in browsers))
    assert sorted(answer.status_code for answer in answers) == [200] + [404] * 19


async def test_a_link_lasts_ten_minutes_and_the_next_one_ends_it(devices: Devices, web: Web) -> None:
    first = await devices.link()
    (key,) = await web.redis.keys("slapjack:link:*")
    assert 590 < await web.redis.ttl(key) <= 600
    second = await devices.link()
    assert await refused(devices.new.post("/api/me/move", json={"token": first})) == (404, "leads_nowhere")
    await devices.move(token=second)


async def test_a_recovery_code_can_be_written_down_and_used_again_until_the_next(devices: Devices, web: Web) -> None:
    code = await devices.code()
    assert len(code) == 14
    assert set(code) <= {*CODE_SYMBOLS, "-"}
    await devices.move(code=code.lower().replace("-", " "))
    third = web.browser(address="198.51.100.10")
    await meet(third)
    assert (await third.post("/api/me/move", json={"code": code})).status_code == 200
    assert (await meet(devices.old))["devices"] == 2
    await devices.code()
    assert await refused(devices.new.post("/api/me/move", json={"code": code})) == (404, "leads_nowhere")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("k7wq-2mab-cdef", "K7WQ2MABCDEF"),
        (" K7WQ2M ABCDEF ", "K7WQ2MABCDEF"),
        ("K7WQ2M", None),
        ("K7WQ2MABCDEFG", None),
        ("K7WQ2MABCDE0", None),
        ("", None),
        ("Ⅶ" * 12, None),
    ],
)
def test_a_recovery_code_is_read_as_people_type_it(text: str, code: str | None) -> None:
    assert read_recovery_code(text) == code


async def test_codes_cannot_be_guessed_at_will(devices: Devices, web: Web) -> None:
    code = await devices.code()
    statuses = []
    for _ in range(12):
        statuses.append((await devices.new.post("/api/me/move", json={"code": "2" * 12})).status_code)
        web.time_us += S // 5  # all of them together may guess ten times a second
    assert statuses == [404] * 10 + [429] * 2
    # Not even with the right one, until it is time again; a token is no guess.
    assert await refused(devices.new.post("/api/me/move", json={"code": code})) == (429, "too_many")
    assert await refused(devices.new.post("/api/me/move", json={"token": "x" * 32})) == (404, "leads_nowhere")
    web.time_us += 7 * S
    await devices.move(code=code)


async def test_the_two_of_one_device_do_not_run_together_and_it_can_go_back(devices: Devices, web: Web) -> None:
    ben = await meet(devices.new, name="Ben", face="🐻")
    moved = await devices.move(token=await devices.link())
    assert moved["was"] == {"name": "Ben", "face": "🐻"}
    assert (await meet(devices.old))["devices"] == 1
    back = await devices.new.post("/api/me/unlink")
    assert back.json() == ben
    assert (await meet(devices.old))["devices"] == 0
    assert (await meet(devices.old))["name"] == "Anna"


async def test_a_device_that_moves_on_leaves_the_last_person(devices: Devices, web: Web) -> None:
    await devices.move(token=await devices.link())
    third = web.browser(address="198.51.100.10")
    await meet(third, name="Cleo", face="🐱")
    token = (await third.post("/api/me/link")).json()["token"]
    assert (await devices.move(token=token))["was"] == {"name": "Anna", "face": "🦊"}
    assert (await meet(devices.old))["devices"] == 0
    assert (await meet(third))["devices"] == 1


@pytest.mark.parametrize("body", [{}, {"token": "t", "code": "c"}])
async def test_one_way_at_a_time(devices: Devices, body: dict[str, str]) -> None:
    assert await refused(devices.new.post("/api/me/move", json=body)) == (400, "malformed")


# --- forget me ---------------------------------------------------------------------------------------------------


async def kept_of(web: Web, table: Table) -> str:
    """Has the store keep a simulated table as it stands; gives its code."""
    await web.store.create_table(table.saved)
    opened = await web.store.open_table(table.saved.code)
    assert opened is not None
    journal = tuple(table.journal)
    await web.store.keep(table.saved.code, opened.epoch, 1, Change(table.saved, journal, bool(journal)))
    return table.saved.code


async def nothing_kept(web: Web, *words: str) -> None:
    """Fails where one of these is still to be found in anything that is kept."""
    for key in await web.redis.keys("*"):
        kept = repr(await whole(web, key)) + repr(key)
        for word in words:
            assert word not in kept, key
            assert word[:32] not in kept, key


async def whole(web: Web, key: Any) -> Any:
    """All that is kept under a key, uncompressed."""
    match await web.redis.type(key):
        case b"string":
            return await web.redis.get(key)
        case b"hash":
            return await web.redis.hgetall(key)
        case b"set":
            return await web.redis.smembers(key)
        case b"zset":
            return await web.redis.zrange(key, 0, -1)
        case b"stream":
            return await web.redis.eval("return redis.call('XRANGE', KEYS[1], '-', '+')", 1, key)
        case other:
            raise AssertionError(other)


def person_of(table: Table, name: str) -> str:
    """The person who sits there under that name."""
    return next(seat.key_hash for seat in table.saved.seats if seat.name == name)


def scores_of(person: str) -> dict[str, Score]:
    """What a table keeps of somebody who has won there."""
    return {person: Score("Quirina", "🦊", 3, 4)}


async def test_nothing_of_who_wants_to_be_forgotten_stays(web: Web) -> None:
    browser, other = web.browser(), web.browser(address="198.51.100.9")
    me = await meet(browser, name="Quirina", face="🦊")
    await meet(other)
    await other.post("/api/me/move", json={"code": (await browser.post("/api/me/recovery")).json()["code"]})
    await browser.post("/api/me/link")
    person = hash_of(me["key"])
    record = TableRecord(CODE, Table().saved.rules, scores={person: Score("Quirina", "🦊", 3, 4)})
    record = TableRecord(
        CODE, record.rules, scores=record.scores, archive=(Tournament(4, {person: Score("Quirina", "🦊", 3, 4)}),)
    )
    await web.store.create_table(record)
    opened = await web.open(CODE)
    result = Result("r1", CODE, "slapjack", (Played(person, "Quirina", "🦊", True, (300_000,)),), True)
    await web.store.keep(CODE, opened.epoch, 1, Change(record, result=result))

    answer = await browser.delete("/api/me")
    assert answer.status_code == 204
    assert cookie(answer)["max-age"] == "0"
    await nothing_kept(web, "Quirina", person, me["key"])
    table = await web.store.load_table(CODE)
    assert table is not None
    assert table.scores == {}
    # The other device is nobody any more, and so is this one.
    for device in (other, browser):
        now = await meet(device)
        assert (now["name"], now["linked"], now["devices"], now["recovery"]) == ("", False, 0, False)


async def test_a_game_that_was_broken_off_goes_on_without_the_forgotten(web: Web) -> None:
    table = Table("Quirina", "Ben", "Cleo")
    table.start()
    table.turn_cards(7)
    person, place = person_of(table, "Quirina"), table.place("Quirina")
    code = await kept_of(web, table)
    await forget(web.store, web.rng, web.now_us(), person)
    await nothing_kept(web, "Quirina", person)
    opened = await web.open(code)
    assert [seat.name for seat in opened.record.seats] == ["Ben", "Cleo"]
    replayed = await resumed_game(code, opened.journal)
    assert replayed is not None
    assert not replayed.bad
    assert [seat.name for seat in replayed.dealt.seats] == ["", "Ben", "Cleo"]
    view = replayed.game.view()
    assert view.turned == 7
    assert view.seats[place].status == "out"
    assert sum(seat.cards for seat in view.seats) + view.pile == 52


async def test_of_two_who_broke_off_the_other_wins_when_one_is_forgotten(web: Web) -> None:
    table = Table("Quirina", "Ben")
    table.start()
    table.turn_cards(3)
    person, ben = person_of(table, "Quirina"), person_of(table, "Ben")
    code = await kept_of(web, table)
    await forget(web.store, web.rng, web.now_us(), person)
    await nothing_kept(web, "Quirina", person)
    opened = await web.open(code)
    assert opened.journal == ()
    assert opened.record.scores[ben].wins == 1
    assert [seat.name for seat in opened.record.seats] == ["Ben"]


async def test_the_last_games_of_a_table_forget_who_has_left_it(web: Web) -> None:
    table = Table("Anna", "Quirina", "Ben")
    table.start()
    table.turn_cards(2)
    person = person_of(table, "Quirina")
    code = await kept_of(web, table)
    table["Quirina"].say(Quit())
    opened = await web.open(code)
    await web.store.keep(code, opened.epoch, 1, Change(table.saved, tuple(table.journal), deals=True))
    await forget(web.store, web.rng, web.now_us(), person)
    await nothing_kept(web, "Quirina", person)
    again = await web.open(code)
    replayed, before = replay(again.journal), replay(table.journal)
    assert replayed is not None
    assert before is not None
    assert replayed.game == before.game


async def test_an_entry_that_nobody_can_read_any_more_names_nobody_either(web: Web) -> None:
    table = Table("Anna", "Quirina", "Ben")
    table.start()
    person = person_of(table, "Quirina")
    table["Quirina"].say(Quit())
    table.journal[0] = b"\x09" + table.journal[0][1:]  # of a newer version
    await web.store.people.sat_down(await kept_of(web, table), [person])
    await forget(web.store, web.rng, web.now_us(), person)
    await nothing_kept(web, "Quirina", person)


async def test_a_journal_with_a_bad_entry_is_kept_as_far_as_it_can_be_believed(web: Web) -> None:
    table = Table("Quirina", "Ben", "Cleo")
    table.start()
    table.turn_cards(4)
    person = person_of(table, "Quirina")
    table.journal[-1] = table.journal[-1][:-1] + b"!"
    code = await kept_of(web, table)
    await forget(web.store, web.rng, web.now_us(), person)
    await nothing_kept(web, "Quirina", person)
    opened = await web.open(code)
    replayed = replay(opened.journal)
    assert replayed is not None
    assert not replayed.bad
    assert replayed.game.view().turned in (3, 4)


async def test_a_table_that_has_nothing_of_a_person_is_left_to_its_owner(web: Web) -> None:
    table = Table("Anna", "Ben")
    code = await kept_of(web, table)
    opened = await web.open(code)
    await web.store.people.sat_down(code, ["c0" * 32])
    await forget(web.store, web.rng, web.now_us(), "c0" * 32)
    await web.store.keep(code, opened.epoch, 1, Change(entries=(b"still mine",)))


async def test_a_table_that_cannot_be_read_does_not_keep_the_rest(web: Web, caplog: pytest.LogCaptureFixture) -> None:
    me = await meet(browser := web.browser(), name="Quirina", face="🦊")
    person = hash_of(me["key"])
    await web.store.create_table(table := TableRecord("222223", Table().saved.rules, scores=scores_of(person)))
    for code in (CODE, table.code):
        await web.store.people.sat_down(code, [person])
    await web.redis.set(f"slapjack:{{{CODE}}}:table", b"from a newer server")
    assert await refused(browser.delete("/api/me")) == (500, "bad_record")
    assert f"slapjack:{{{CODE}}}:table" in caplog.text
    assert await web.redis.get(f"slapjack:{{{CODE}}}:table") == b"from a newer server"
    left = await web.store.load_table(table.code)
    assert left is not None
    assert left.scores == {}
    assert (await meet(browser))["name"] == ""


async def test_a_table_that_can_be_read_again_forgets_whoever_asks_again_from_any_device(web: Web) -> None:
    browser, other = web.browser(), web.browser(address="198.51.100.9")
    me = await meet(browser, name="Quirina", face="🦊")
    await meet(other)
    await other.post("/api/me/move", json={"code": (await browser.post("/api/me/recovery")).json()["code"]})
    person = hash_of(me["key"])
    await web.store.create_table(TableRecord(CODE, Table().saved.rules, scores=scores_of(person)))
    await web.store.people.sat_down(CODE, [person])
    readable = await web.redis.get(f"slapjack:{{{CODE}}}:table")
    assert readable is not None
    await web.redis.set(f"slapjack:{{{CODE}}}:table", b"from a newer server")
    assert await refused(other.delete("/api/me")) == (500, "bad_record")
    await web.redis.set(f"slapjack:{{{CODE}}}:table", readable)
    assert (await other.delete("/api/me")).status_code == 204
    await nothing_kept(web, "Quirina", person)


async def test_nobody_is_forgotten_in_part_while_a_back_up_is_made(web: Web) -> None:
    table = Table("Quirina", "Ben")
    person = person_of(table, "Quirina")
    code = await kept_of(web, table)
    opened = await web.open(code)
    await web.redis.set("slapjack:{slapjack}:paused", "1")
    result = Result("r1", code, "slapjack", (Played(person, "Quirina", "🦊", True),), True)
    await web.store.keep(code, opened.epoch, 1, Change(result=result))
    with pytest.raises(StoreDown, match="a back-up is being made"):
        await forget(web.store, web.rng, web.now_us(), person)
    await web.redis.delete("slapjack:{slapjack}:paused")
    await forget(web.store, web.rng, web.now_us(), person)
    await nothing_kept(web, "Quirina", person)


async def test_the_store_goes_away_at_any_step_of_forgetting_and_it_can_be_done_again(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Table("Quirina", "Ben", "Cleo")
    table.start()
    table.turn_cards(5)
    person = person_of(table, "Quirina")
    answer = web.store.pipeline.answer
    for step in range(1, 100):
        await web.redis.flushall()
        await web.store.people.meet(person, "Quirina", "🦊")
        await web.store.people.set_recovery(person, hash_of("code"))
        await kept_of(web, table)
        used = 0

        async def failing(asked: Any, key: str, last: int = step) -> Any:
            nonlocal used
            used += 1
            told = await answer(asked, key)
            if used == last:
                raise StoreDown("the answer is lost")
            return told

        with monkeypatch.context() as patched:
            patched.setattr(web.store.pipeline, "answer", failing)
            try:
                await forget(web.store, web.rng, web.now_us(), person)
                break
            except StoreDown:
                pass
        await forget(web.store, web.rng, web.now_us(), person)
        await nothing_kept(web, "Quirina", person)
    assert 10 < step < 99


# --- two of one name ---------------------------------------------------------------------------------------------


async def test_two_people_called_anna_are_two_people(web: Web) -> None:
    one, two = web.browser(), web.browser(address="198.51.100.9")
    annas = [hash_of((await meet(browser, name="Anna", face="🦊"))["key"]) for browser in (one, two)]
    await web.store.create_table(TableRecord(CODE, Table().saved.rules))
    opened = await web.open(CODE)
    people = tuple(Played(anna, "Anna", "🦊", anna == annas[0]) for anna in annas)
    await web.store.keep(CODE, opened.epoch, 1, Change(result=Result("r1", CODE, "slapjack", people, True)))
    for anna, wins in zip(annas, (1, 0), strict=True):
        page = await web.store.board.page(GameName.SLAPJACK, Span.ALL, By.WINS, 1, anna)
        assert page.people == 2
        assert page.you is not None
        assert page.you.wins == wins
    await one.delete("/api/me")
    assert (await meet(two))["name"] == "Anna"
    page = await web.store.board.page(GameName.SLAPJACK, Span.ALL, By.WINS, 1, annas[1])
    assert [(row.name, row.you) for row in page.rows] == [("Anna", True)]


async def test_a_device_that_was_moved_by_a_link_cannot_delete_its_owner_and_is_sent_away(web: Web) -> None:
    owner, phone = web.browser(), web.browser(address="198.51.100.9")
    await meet(owner, name="Quirina", face="🦊")
    await meet(phone)
    await phone.post("/api/me/move", json={"token": (await owner.post("/api/me/link")).json()["token"]})
    for answer in (
        await phone.delete("/api/me"),
        await phone.post("/api/me/recovery"),
        await phone.get("/api/me/devices"),
    ):
        assert (answer.status_code, answer.json()["error"]) == (403, "not_owner")
    (device,) = (await owner.get("/api/me/devices")).json()["devices"]
    assert (await owner.delete(f"/api/me/devices/{device['id']}")).status_code == 204
    assert (await owner.delete(f"/api/me/devices/{device['id']}")).status_code == 404
    assert (await phone.post("/api/me", json={})).json()["name"] == ""
    assert (await owner.post("/api/me", json={})).json()["name"] == "Quirina"


async def test_new_people_from_one_network_are_so_many_a_day(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.web.people.NEW_A_DAY", 3)
    browser = web.browser()
    said = [{"key": new_key(web.rng), "name": "Ann", "face": "🦊"} for _ in range(4)]
    assert [(await browser.post("/api/me", json=each)).status_code for each in said] == [200, 200, 200, 429]
    assert (await browser.post("/api/me", json=said[0])).status_code == 200, "who is known is not new"
