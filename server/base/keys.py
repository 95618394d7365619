"""Secrets: what one looks like, how it is drawn, and what is kept of it. Who has a person's secret is that person."""

import hashlib
import re
from base64 import urlsafe_b64encode

from server.base.ports import RandomSource

KEY = re.compile(r"[A-Za-z0-9_-]{22,64}")
"""At least 128 bits, and nothing that a header could not hold."""


def new_key(random_source: RandomSource) -> str:
    """A secret of 192 bits, as letters, digits, - and _."""
    return urlsafe_b64encode(random_source.draw()[:24]).decode()


def hash_of(secret: str) -> str:
    """What is kept of a secret: its hex SHA-256."""
    return hashlib.sha256(secret.encode()).hexdigest()
