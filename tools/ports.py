"""Ports for servers that are ended and started again where they were."""

import os
import socket
from itertools import cycle

RANGE = range(20_000, 32_768)
"""Below the ports that Linux gives out by itself (`ip_local_port_range`), to connections as well: while a server is
down nobody is given its port."""
APART = 1009
"""Processes that look at the same time, and have numbers close together, begin so far from each other."""

_turns = cycle(range(len(RANGE)))


def lasting_port() -> int:
    """A port that is free now, and stays so unless somebody asks for this very one."""
    for nth in _turns:
        port = RANGE[(os.getpid() * APART + nth) % len(RANGE)]
        try:
            socket.create_server(("", port)).close()
        except OSError:
            continue
        return port
    raise AssertionError("a cycle has no end")
