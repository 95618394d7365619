"""What a server counts of what it does. Anybody counts, as anybody writes to a log; only `GET /metrics` looks.

One of each for the whole process, so that what happened at a table is still counted when the table sleeps. Nothing is
counted for each message: one count costs a microsecond or two. Durations are in seconds. Must not depend on what
follows from any of it.
"""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

disable_created_metrics()  # type: ignore[no-untyped-call]  # a series beside each, of when it began

REGISTRY = CollectorRegistry()

VERDICT_WAIT = Histogram(
    "slapjack_verdict_wait_seconds",
    "From the first hand's arrival to the verdict.",
    buckets=(0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 2.0),
    registry=REGISTRY,
)
CORRECTED = Counter("slapjack_corrected_hands", "Hands to whose claim time was added.", registry=REGISTRY)
LATE_WINNERS = Counter("slapjack_late_winners", "Hands too late for a verdict they would have won.", registry=REGISTRY)
KEEP = Histogram(
    "slapjack_keep_seconds",
    "What it took to keep a change.",
    buckets=(0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0),
    registry=REGISTRY,
)
NOT_KEPT = Counter("slapjack_not_kept", "Times the store did not acknowledge a change.", registry=REGISTRY)
FENCED = Counter("slapjack_fenced", "Changes refused as another server's table.", registry=REGISTRY)
CONNECTIONS = Gauge("slapjack_connections", "Sockets at tables.", registry=REGISTRY)
CUT = Counter("slapjack_cut", "Sockets cut because they had stopped reading.", registry=REGISTRY)
BUSY = Gauge("slapjack_busy_ratio", "Share of a processor used in the last second.", registry=REGISTRY)
LATE = Gauge("slapjack_late_seconds", "How late the event loop usually is.", registry=REGISTRY)
