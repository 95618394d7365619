"""Settings: what the environment may say, and what is told to whoever gets it wrong."""

import ipaddress
import re
import sys
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from server.base.settings import BadSetting, Settings, default_data_folder, read_settings
from tests.support.serving import ROOT


def test_nothing_needs_to_be_set() -> None:
    assert read_settings({}) == Settings(data=default_data_folder())


def test_an_empty_variable_is_not_set() -> None:
    assert read_settings({"HOME": "/h", "SLAPJACK_PORT": "", "REDIS_URL": " "}) == read_settings({"HOME": "/h"})


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("SLAPJACK_PORT", "0", "port", 0),
        ("SLAPJACK_PORT", " 65535 ", "port", 65535),
        ("SLAPJACK_DATA", "/srv/slapjack", "data", Path("/srv/slapjack")),
        ("SLAPJACK_DATA", "here", "data", Path.cwd() / "here"),
        ("SLAPJACK_DATA", "~/cards", "data", Path.home() / "cards"),
        ("REDIS_URL", "redis://:secret@store:6379/3", "redis_url", "redis://:secret@store:6379/3"),
        ("REDIS_URL", "unix:///run/redis.sock", "redis_url", "unix:///run/redis.sock"),
        ("SLAPJACK_PUBLIC_URL", "https://Cards.example/", "public_url", "https://cards.example"),
        ("SLAPJACK_PUBLIC_URL", "https://cards.example:443", "public_url", "https://cards.example"),
        ("SLAPJACK_PUBLIC_URL", "http://cards.example:80", "public_url", "http://cards.example"),
        ("SLAPJACK_PUBLIC_URL", "http://203.0.113.7:8000", "public_url", "http://203.0.113.7:8000"),
        ("SLAPJACK_PUBLIC_URL", "http://[2001:db8::7]:8000", "public_url", "http://[2001:db8::7]:8000"),
        (
            "SLAPJACK_TRUSTED_PROXIES",
            "127.0.0.1, 10.0.0.0/8,::1",
            "trusted_proxies",
            tuple(map(ipaddress.ip_network, ("127.0.0.1/32", "10.0.0.0/8", "::1/128"))),
        ),
        ("SLAPJACK_FSYNC", "always", "fsync", "always"),
        ("SLAPJACK_LOG", "json", "log", "json"),
        ("SLAPJACK_MAX_SPECTATORS", "0", "max_spectators", 0),
    ],
)
def test_what_is_set_is_used(variable: str, text: str, name: str, value: Any) -> None:
    assert getattr(read_settings({variable: text}), name) == value


@pytest.mark.parametrize(
    ("variable", "text", "wrong"),
    [
        ("SLAPJACK_PORT", "eight", "is 'eight', but must be a whole number from 0 to 65535"),
        ("SLAPJACK_PORT", "65536", "whole number"),
        ("SLAPJACK_PORT", "-1", "whole number"),
        ("SLAPJACK_PORT", "8_000", "whole number"),
        ("SLAPJACK_PORT", "٨٠٠٠", "whole number"),
        ("SLAPJACK_PORT", "9" * 10_000, "whole number"),
        ("SLAPJACK_DATA", "a\0b", "must be a folder"),
        ("SLAPJACK_DATA", "~nobody-of-that-name/x", "must be a folder"),
        ("REDIS_URL", "http://store", "must be an address such as redis://localhost:6379/0"),
        ("REDIS_URL", "redis://store:port/0", "must be an address"),
        ("REDIS_URL", "localhost:6379", "must be an address"),
        ("SLAPJACK_PUBLIC_URL", "cards.example", "must be an address such as https://slapjack.example"),
        ("SLAPJACK_PUBLIC_URL", "https://cards.example/table", "without a path"),
        ("SLAPJACK_PUBLIC_URL", "https://cards.example?x=1", "must be an address"),
        ("SLAPJACK_PUBLIC_URL", "https://ann@cards.example", "must be an address"),
        ("SLAPJACK_PUBLIC_URL", "https://cards example", "must be an address"),
        ("SLAPJACK_PUBLIC_URL", "ftp://cards.example", "must be an address"),
        ("SLAPJACK_PUBLIC_URL", "https://:80", "must be an address"),
        ("SLAPJACK_PUBLIC_URL", "http://[::1", "must be an address"),
        ("SLAPJACK_PUBLIC_URL", "http://cards.example:99999", "must be an address"),
        ("SLAPJACK_TRUSTED_PROXIES", "localhost", "must be addresses or networks"),
        ("SLAPJACK_TRUSTED_PROXIES", "10.0.0.1/8", "must be addresses or networks"),
        ("SLAPJACK_FSYNC", "no", "must be everysec or always"),
        ("SLAPJACK_LOG", "xml", "must be text or json"),
        ("SLAPJACK_MAX_TABLES", "0", "whole number from 1"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line(variable: str, text: str, wrong: str) -> None:
    with pytest.raises(BadSetting) as told:
        read_settings({variable: text})
    assert str(told.value).startswith(f"{variable} is ")
    assert wrong in str(told.value)
    assert len(str(told.value)) < 300
    assert str(told.value).isprintable()


def test_the_password_of_a_store_is_not_told() -> None:
    with pytest.raises(BadSetting) as told:
        read_settings({"REDIS_URL": "http://:secret@store"})
    assert "secret" not in str(told.value)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other folders, which platformdirs knows")
@pytest.mark.parametrize(
    ("data_home", "folder"), [("", "/home/ann/.local/share/slapjack"), ("/data", "/data/slapjack")]
)
def test_data_is_kept_where_this_machine_keeps_it(data_home: str, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    monkeypatch.setenv("XDG_DATA_HOME", data_home)
    assert default_data_folder() == Path(folder)


def test_the_readme_tells_every_setting_and_its_default() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `([A-Z_]+)` \|([^|]*)\|", readme, re.MULTILINE))
    plain = Settings(data=Path("~/.local/share/slapjack"))
    hints = get_type_hints(Settings, include_extras=True)
    real = {hint.__metadata__[0].name: getattr(plain, name) for name, hint in hints.items()}
    assert {name: text.strip(" `") for name, text in told.items()} == {
        name: "" if value == () else str(value) for name, value in real.items()
    }
