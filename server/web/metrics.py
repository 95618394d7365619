"""`GET /metrics`: what the server has counted, in the text format of Prometheus (version 0.0.4)."""

import sys
from collections.abc import Iterator
from mmap import PAGESIZE
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from server import __version__
from server.base import meters
from server.base.ports import Clock
from server.hosting.host import Host

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4


def metrics(host: Host, clock: Clock) -> bytes:
    """Everything as it stands now."""
    registry = CollectorRegistry()
    registry.register(_Standing(host, clock))
    return generate_latest(registry) + generate_latest(meters.REGISTRY)


class _Standing(Collector):
    """What is not counted as it happens, but looked at when somebody asks."""

    def __init__(self, host: Host, clock: Clock) -> None:
        self._host = host
        self._clock = clock

    def collect(self) -> Iterator[Metric]:
        """Each as it stands now."""
        host, node = self._host, self._host.node
        info = GaugeMetricFamily("slapjack_info", "This server.", labels=("version", "node"))
        info.add_metric((__version__, host.lease.node), 1)
        yield info
        holds = host.lease.holds(self._clock.now_us())
        for name, what, value in (
            ("tables", "Tables awake.", host.tables),
            ("draining", "Whether this server hands its tables over.", int(host.draining)),
            ("lease_held", "Whether this server may speak.", int(holds)),
            ("memory_bytes", "Memory resident, 0 where nobody says.", _memory_bytes()),
        ):
            yield GaugeMetricFamily(f"slapjack_{name}", what, value)
        counted: tuple[tuple[str, str, float], ...] = (
            ("tables_woken", "Tables taken up, as new ones or where others left them.", host.woken),
            ("handed_over", "Tables given up to other servers.", host.handed_over),
            ("moved", "Phones sent to the server that has their table.", host.moved),
            ("leases_taken", "Leases taken.", node.taken if node else 0),
            ("leases_renewed", "Times a lease was renewed.", node.renewed if node else 0),
            ("leases_lost", "Leases that ended under this server.", node.lost if node else 0),
            ("cpu_seconds", "Processor time used.", self._clock.worked_us() / 1e6),
        )
        for name, what, count in counted:
            yield CounterMetricFamily(f"slapjack_{name}", what, count)


def _memory_bytes() -> int:
    if sys.platform != "linux":
        return 0
    # The second figure is what is resident, in pages (proc(5)), which are of 16 KiB on some small computers.
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGESIZE
