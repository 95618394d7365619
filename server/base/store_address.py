"""The address of a store as people paste it: what is wrong with it, without a word of the secret that may be in it."""

import re
from urllib.parse import urlsplit

SHOULD_BE = "an address such as redis://localhost:6379/0, or rediss:// or unix://"
ENCODE = (
    "an address whose password has none of # / ? @ % [ ] as they are: percent-encode them "
    "(# is %23, / is %2F, ? is %3F, @ is %40, % is %25)"
)

_FORM = re.compile(
    r"(?P<scheme>rediss?|unix)://(?:(?P<who>[^@]*)@)?(?P<host>\[[0-9a-fA-F:.]+\]|[^:\[\]]*)(?::(?P<port>\d{1,5}))?"
)
_NEEDS_CODE = re.compile(r"%(?![0-9a-fA-F]{2})|[\[\]]")


def store_address(text: str) -> str:
    """`text`, where it is the address of a Redis or Valkey server; raises `ValueError` with what it must be."""
    scheme, _, rest = text.partition("://")
    where = re.split(r"[/?#]", rest, maxsplit=1)[0]
    path, _, _ = rest[len(where) :].partition("?")
    if scheme not in ("redis", "rediss", "unix") or re.search(r"\s", text):
        raise ValueError(SHOULD_BE)
    # A sign that means something in an address ends the password early, and what follows would be taken for a host, a
    # path or options: so an @ behind one of those says that there was a password.
    if "#" in rest or rest.count("@") > 1 or "@" in rest[len(where) :]:
        raise ValueError(ENCODE)
    found = _FORM.fullmatch(f"{scheme}://{where}")
    if _NEEDS_CODE.search(where.rpartition("@")[0]):
        raise ValueError(ENCODE)
    fits = path.strip("/") != "" if scheme == "unix" else re.fullmatch(r"/?|/\d{1,5}", path) is not None
    if found is None or not fits or (found["port"] and not 0 < int(found["port"]) < 65_536):
        raise ValueError(SHOULD_BE)
    return text


def without_secret(url: str) -> str:
    """The address as it may be shown: who asks, the password and all options left out."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
