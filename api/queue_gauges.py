"""Database state for Prometheus. Every process reports the same values: take `max`, not `sum`."""

from collections.abc import Iterable, Iterator, Sequence

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from api.installation_state import Overview
from ingest.store.queue.queue_stats import TypeStats

Rows = Iterable[tuple[Sequence[str], float]]


class QueueGauges(Collector):
    """Gauges of one moment; without an overview, only whether the database responds."""

    def __init__(self, overview: Overview | None, *, is_up: bool = True) -> None:
        self._overview = overview
        self._is_up = is_up

    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield _gauge(
            "database_up", "Whether the database responded to this process.", float(self._is_up)
        )
        if self._overview is not None:
            yield from _job_gauges(self._overview)
            yield from _lane_gauges(self._overview)
            yield from _worker_gauges(self._overview)
            yield from _usage_gauges(self._overview)
            yield from _other_gauges(self._overview)


def _job_gauges(overview: Overview) -> Iterator[GaugeMetricFamily]:
    types = overview.stats.types
    yield _family(
        "jobs",
        "Jobs that have not completed, up to 100000 per type and status.",
        ("type", "status"),
        (pair for row in types for pair in _by_status(row)),
    )
    yield _family(
        "jobs_waiting",
        "Pending jobs with a wait reason, by reason.",
        ("type", "reason"),
        (((row.type, row.reason), row.jobs) for row in overview.stats.waiting),
    )
    yield _family(
        "oldest_ready_seconds",
        "Age of the oldest ready job; 0 when none is ready.",
        ("type",),
        (((row.type,), row.oldest_seconds or 0.0) for row in types),
    )
    yield _family(
        "jobs_overdue",
        "Running jobs past their timeout, which should have ended them.",
        ("type",),
        (((row.type,), row.overdue) for row in types),
    )
    is_paused = overview.stats.installation.is_paused
    yield _family(
        "type_paused",
        "Whether jobs of the type are not started: paused, disabled, or everything is paused.",
        ("type",),
        (((row.type,), float(is_paused or not row.is_on)) for row in types),
    )


def _by_status(row: TypeStats) -> Rows:
    yield (row.type, "ready"), row.ready
    yield (row.type, "processing"), row.processing
    yield (row.type, "review_needed"), row.review_needed
    yield (row.type, "failed"), row.failed


def _lane_gauges(overview: Overview) -> Iterator[GaugeMetricFamily]:
    lanes = overview.stats.lanes
    yield _family(
        "lane_paused_seconds",
        "Remaining pause of a provider's lane.",
        ("lane",),
        (((row.lane,), row.paused_seconds) for row in lanes),
    )
    yield _family(
        "lane_failures",
        "Consecutive failures of a provider.",
        ("lane",),
        (((row.lane,), row.failures) for row in lanes),
    )
    yield _family(
        "lane_failing",
        "Whether a provider is failing, by error code.",
        ("lane", "code"),
        (((row.lane, row.failing_code), 1.0) for row in lanes if row.failing_code is not None),
    )


def _worker_gauges(overview: Overview) -> Iterator[GaugeMetricFamily]:
    workers = overview.stats.workers
    yield _gauge("workers", "Workers with a live heartbeat.", workers.alive)
    yield _gauge("workers_draining", "Live workers that are stopping.", workers.draining)
    yield _gauge("workers_running", "Slots of live workers that are in use.", workers.running)
    silent = float("inf") if workers.silent_seconds is None else workers.silent_seconds
    yield _gauge(
        "worker_silent_seconds",
        "Time since a worker was last alive; +Inf if none ever was.",
        silent,
    )
    yield _gauge("workers_desired", "Desired number of workers.", overview.workers.desired)


def _usage_gauges(overview: Overview) -> Iterator[GaugeMetricFamily]:
    used = overview.usage
    amounts = {
        "storedBytes": (used.stored_bytes, used.stored_bytes_share),
        "stagedBytes": (used.staged_bytes, used.staged_bytes_share),
        "sources": (used.sources, used.sources_share),
        "pendingJobs": (used.pending_jobs, used.pending_jobs_share),
    }
    yield _family(
        "usage",
        "What all applications use together, by quota.",
        ("quota",),
        (((quota,), amount) for quota, (amount, _) in amounts.items()),
    )
    yield _family(
        "quota_used_ratio",
        "Share of its quota that is used, of the application that uses most of it.",
        ("quota",),
        (((quota,), share) for quota, (_, share) in amounts.items()),
    )
    yield _family(
        "disk_free_bytes",
        "Free space of the disks that this process writes to; uploads need INGEST_DISK_RESERVE.",
        ("disk",),
        (((disk,), free) for disk, free in overview.free_bytes.items()),
    )


def _other_gauges(overview: Overview) -> Iterator[GaugeMetricFamily]:
    state = overview.stats.installation
    yield _gauge("inbox_events", "Provider events that are not processed yet.", state.inbox)
    yield _gauge("deliveries_open", "Pending notifications.", state.deliveries)
    yield _family(
        "webhook_endpoints",
        "Endpoints that fail, or that the service disabled because they failed.",
        ("state",),
        ((("failing",), state.endpoints_failing), (("disabled",), state.endpoints_disabled)),
    )
    yield _gauge("batches_open", "Upload batches that have not ended.", state.open_batches)
    yield _gauge(
        "fresh_vectors", "Vectors that are not in the HNSW index yet.", state.fresh_vectors
    )


def _gauge(name: str, help: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"rag_ingest_{name}", help, value=value)


def _family(name: str, help: str, labels: Sequence[str], rows: Rows) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"rag_ingest_{name}", help, labels=labels)
    for values, value in rows:
        family.add_metric(values, value)
    return family
