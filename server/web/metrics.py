"""`GET /metrics`: what the server has counted, in the text format of Prometheus (version 0.0.4).

The format is a page long, so a library for it would be one more thing to trust. Knows names and numbers.
"""

import sys
from collections.abc import Iterator
from mmap import PAGESIZE
from pathlib import Path

from server import __version__
from server.base import meters
from server.base.meters import Durations
from server.base.ports import Clock
from server.hosting.host import Host

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def metrics(host: Host, clock: Clock) -> str:
    """Everything as it stands now."""
    node = host.node
    families = [
        _family("info", "gauge", "This server.", 1, f'{{version="{__version__}",node="{host.lease.node}"}}'),
        _family("tables", "gauge", "Tables awake.", host.tables),
        _family("tables_woken_total", "counter", "Tables taken up, as new ones or where others left them.", host.woken),
        _family("connections", "gauge", "Sockets at tables.", meters.CONNECTIONS.value),
        _family("cut_total", "counter", "Sockets cut because they had stopped reading.", meters.CUT.value),
        _durations("verdict_wait_seconds", "From the first hand's arrival to the verdict.", meters.VERDICT_WAIT),
        _family("corrected_hands_total", "counter", "Hands to whose claim time was added.", meters.CORRECTED.value),
        _family(
            "late_winners_total",
            "counter",
            "Hands too late for a verdict they would have won.",
            meters.LATE_WINNERS.value,
        ),
        _durations("keep_seconds", "What it took to keep a change.", meters.KEEP),
        _family("not_kept_total", "counter", "Times the store did not acknowledge a change.", meters.NOT_KEPT.value),
        _family("fenced_total", "counter", "Changes refused as another server's table.", meters.FENCED.value),
        _family("draining", "gauge", "Whether this server hands its tables over.", int(host.draining)),
        _family("handed_over_total", "counter", "Tables given up to other servers.", host.handed_over),
        _family("moved_total", "counter", "Phones sent to the server that has their table.", host.moved),
        _family("lease_held", "gauge", "Whether this server may speak.", int(host.lease.holds(clock.now_us()))),
        _family("leases_taken_total", "counter", "Leases taken.", node.taken if node else 0),
        _family("leases_renewed_total", "counter", "Times a lease was renewed.", node.renewed if node else 0),
        _family("leases_lost_total", "counter", "Leases that ended under this server.", node.lost if node else 0),
        _family("busy_ratio", "gauge", "Share of a processor used in the last second.", meters.BUSY.value),
        _family("late_seconds", "gauge", "How late the event loop usually is.", meters.LATE_US.value / 1e6),
        _family("cpu_seconds_total", "counter", "Processor time used.", clock.worked_us() / 1e6),
        _family("memory_bytes", "gauge", "Memory resident, 0 where nobody says.", _memory_bytes()),
    ]
    return "".join(line for family in families for line in family)


def _family(name: str, kind: str, what: str, value: float, labels: str = "") -> Iterator[str]:
    yield f"# HELP slapjack_{name} {what}\n# TYPE slapjack_{name} {kind}\nslapjack_{name}{labels} {value}\n"


def _durations(name: str, what: str, seen: Durations) -> Iterator[str]:
    yield f"# HELP slapjack_{name} {what}\n# TYPE slapjack_{name} histogram\n"
    counts = seen.up_to()
    for bound_us, count in zip((*seen.bounds_us, None), counts, strict=True):
        up_to = "+Inf" if bound_us is None else bound_us / 1e6
        yield f'slapjack_{name}_bucket{{le="{up_to}"}} {count}\n'
    yield f"slapjack_{name}_sum {seen.sum_us / 1e6}\nslapjack_{name}_count {counts[-1]}\n"


def _memory_bytes() -> int:
    if sys.platform != "linux":
        return 0
    # The second figure is what is resident, in pages (proc(5)), which are of 16 KiB on some small computers.
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGESIZE
