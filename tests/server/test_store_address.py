"""The address of a store as people paste it: read, or refused in one line without a word of its secret."""

import pytest

from server.base.settings import BadSetting, read_settings
from server.base.store_address import store_address, without_secret

SECRETS = ("57", "Wc903z", "p@ss", "/word", "1234", "5678", "secret", "hush")


@pytest.mark.parametrize(
    "url",
    [
        "redis://:57#Wc903z@127.0.0.1:6379/0",
        "redis://:p@ss/word@h:6379/0",
        "redis://:1234/5678@h",
        "redis://:hush?secret@127.0.0.1:6379/0",
        "redis://user:hush%zz@h:1/0",
        "redis://:p@ss@h",
        "rediss://:hush#secret@h:6379",
        "redis://:hush[secret@h",
        "unix:///tmp/store.sock?password=p@ss",
    ],
)
def test_a_password_with_signs_of_an_address_is_to_be_percent_encoded(url: str) -> None:
    with pytest.raises(BadSetting) as refused:
        read_settings({"REDIS_URL": url})
    told = str(refused.value)
    assert "percent-encode" in told
    assert "\n" not in told
    assert not [secret for secret in SECRETS if secret in told]


@pytest.mark.parametrize(
    "url",
    [
        *("http://:hush@h/0", "redis://:hush@[::1:6379/0", "redis://:hush@h:port/0", "redis://:hush@h:99999/0"),
        *("redis://:hush@h:6379/games", "redis://:hush@h:0", "unix://", "localhost:6379", "redis://a b"),
    ],
)
def test_what_is_no_address_is_refused_without_its_secret(url: str) -> None:
    with pytest.raises(BadSetting, match="must be an address such as redis://localhost:6379/0") as refused:
        read_settings({"REDIS_URL": url})
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://localhost", "redis://localhost"),
        ("redis://:57%23Wc903z@127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"),
        ("rediss://user:p%40ss@[::1]:6379/2?ssl_cert_reqs=none", "rediss://[::1]:6379/2"),
        ("unix:///run/redis.sock?password=hush", "unix:/run/redis.sock"),
    ],
)
def test_an_address_is_taken_and_shown_without_its_secret(url: str, shown: str) -> None:
    assert store_address(url) == url
    assert without_secret(url) == shown
