"""Where this machine can be reached by phones on the same network."""

import re
import socket

_THIS_MACHINE = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(:\d+)?", re.IGNORECASE)


def lan_address() -> str | None:
    """The address by which this machine reaches its network, None when it has none. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Choosing a peer makes the kernel choose the interface; the address is reserved for examples (RFC 5737).
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        address: str = probe.getsockname()[0]
    return None if address.startswith("127.") else address


def invite_origin(host: str, scheme: str, public_url: str) -> str:
    """The origin that an invitation should name, when the page was asked for at `host`.

    That is the public one where there is one, and else what the asking browser used; but `localhost` means another
    machine on every phone, so there it is this machine's address on its network.
    """
    if public_url:
        return public_url
    if (here := _THIS_MACHINE.fullmatch(host)) is not None and (address := lan_address()) is not None:
        return f"{scheme}://{address}{here[1] or ''}"
    return f"{scheme}://{host}"
