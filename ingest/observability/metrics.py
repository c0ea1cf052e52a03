"""Prometheus metrics of this process; metrics from the database are in api/queue_gauges.py.

They are global: otherwise `Context`, the stores and the API would all pass a registry. Only GET
/metrics reads them. No label holds an application, a source or anything else without a bound.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, Literal, NamedTuple

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.registry import Collector

disable_created_metrics()  # type: ignore[no-untyped-call]  # untyped in the library
REGISTRY: Final = CollectorRegistry()
# Memory, CPU and open files of the process.
ProcessCollector(registry=REGISTRY)

_QUICK: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_SLOW: Final = (0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 1800.0)

_claim_seconds: Final = Histogram(
    "rag_ingest_claim_seconds",
    "Duration of claims, including empty ones.",
    registry=REGISTRY,
    buckets=_QUICK,
)
_claimed: Final = Counter("rag_ingest_jobs_claimed", "Jobs taken.", registry=REGISTRY)
_stage_seconds: Final = Histogram(
    "rag_ingest_stage_seconds",
    "Duration of the stages of jobs.",
    ("type", "stage"),
    registry=REGISTRY,
    buckets=_SLOW,
)
_job_seconds: Final = Histogram(
    "rag_ingest_job_seconds",
    "Duration of attempts, from the claim to the commit.",
    ("type", "outcome"),
    registry=REGISTRY,
    buckets=_SLOW,
)
_attempts: Final = Counter(
    "rag_ingest_attempts",
    "Attempts that ended. Outcomes: completed, failed, review_needed; retry: another attempt"
    " follows; waiting: the attempt was given back; dropped: this worker no longer held the job's"
    " lease.",
    ("type", "outcome", "code"),
    registry=REGISTRY,
)
_retries: Final = Counter(
    "rag_ingest_retries",
    "Failed attempts that will be retried.",
    ("type",),
    registry=REGISTRY,
)
_rescued: Final = Counter(
    "rag_ingest_jobs_recovered", "Jobs recovered from stale workers.", registry=REGISTRY
)
_embedding_calls: Final = Counter(
    "rag_ingest_embedding_calls", "Requests to the embedder.", ("outcome",), registry=REGISTRY
)
_embedding_seconds: Final = Histogram(
    "rag_ingest_embedding_seconds",
    "Duration of requests to the embedder.",
    registry=REGISTRY,
    buckets=_SLOW,
)
_embedded_texts: Final = Counter(
    "rag_ingest_embedded_texts", "Texts that a request embedded.", registry=REGISTRY
)
_embedded_tokens: Final = Counter(
    "rag_ingest_embedded_tokens", "Tokens of those texts.", registry=REGISTRY
)
_reused: Final = Counter(
    "rag_ingest_embedding_reused_texts",
    "Texts whose stored vector was reused, without a request.",
    registry=REGISTRY,
)
_skipped_steps: Final = Counter(
    "rag_ingest_parser_steps_skipped",
    "Steps of extraction that failed on a file; it was read without them.",
    ("format", "step"),
    registry=REGISTRY,
)
_requests: Final = Counter(
    "rag_ingest_http_requests",
    "Responses sent, by the route's template.",
    ("method", "route", "status"),
    registry=REGISTRY,
)
_request_seconds: Final = Histogram(
    "rag_ingest_http_request_seconds",
    "Time until the response starts.",
    ("route",),
    registry=REGISTRY,
    buckets=(*_QUICK, 10.0, 30.0),
)
_parser_jail: Final = Gauge(
    "rag_ingest_parser_jail",
    "1 for each layer that confines parser processes: landlock, seccomp.",
    ("layer",),
    registry=REGISTRY,
)
WARNINGS: Final = frozenset(
    {
        "type_mismatch", "undecodable_characters", "removed_characters", "garbled_text",
        "hidden_text", "folded_text", "script_text", "off_page_text", "reading_direction_unsure",
        "main_content_unsure", "pages_failed", "pages_unread", "xfa_form", "sheets_failed",
        "hidden_sheets", "hidden_slides", "formulas_not_calculated", "messages_failed",
        "messages_cut_off", "encrypted_parts", "chapters_failed", "parts_unreadable",
        "attachments_not_kept", "invalid_json", "invalid_xml", "unclosed_quote", "only_first_frame",
    }
)  # fmt: skip
_warnings: Final = Counter(
    "rag_ingest_document_warnings",
    "Documents read with a warning, by its code.",
    ("code",),
    registry=REGISTRY,
)
_sockets: Final = Gauge(
    "rag_ingest_websocket_clients", "WebSockets that are open.", registry=REGISTRY
)
_search_seconds: Final = Histogram(
    "rag_ingest_search_seconds",
    "Duration of searches, including the query's embedding.",
    ("mode",),
    registry=REGISTRY,
    buckets=_QUICK,
)
_statement_timeouts: Final = Counter(
    "rag_ingest_statement_timeouts",
    "Statements that the database ended because they took too long, by caller: a search,"
    " another request, or GET /metrics.",
    ("asked_by",),
    registry=REGISTRY,
)
for _asker in ("search", "request", "metrics"):
    _statement_timeouts.labels(_asker)
_degraded: Final = Counter(
    "rag_ingest_searches_degraded",
    "Hybrid searches without vectors, by error code.",
    ("code",),
    registry=REGISTRY,
)
_not_reranked: Final = Counter(
    "rag_ingest_searches_not_reranked",
    "Searches whose reranker failed, by error code.",
    ("code",),
    registry=REGISTRY,
)
_listening: Final = Gauge(
    "rag_ingest_listening",
    "1 while notifications from Postgres arrive; 0: work and progress are found by polling.",
    registry=REGISTRY,
)
_quota_refusals: Final = Counter(
    "rag_ingest_quota_refusals",
    "Requests, and files of uploads, that a quota refused.",
    ("quota",),
    registry=REGISTRY,
)


def step_skipped(format: str, step: str, times: int) -> None:
    """Count a step of extraction that failed; the file was read without it."""
    _skipped_steps.labels(format, step).inc(times)


def parsers_jailed(*, landlock: int | None, seccomp: bool) -> None:
    """Record which layers confine the parser processes; `landlock` is its ABI version."""
    _parser_jail.labels("landlock").set(landlock is not None)
    _parser_jail.labels("seccomp").set(seccomp)


def claimed(jobs: int, *, seconds: float) -> None:
    """Count a claim of `jobs` jobs, which may be 0."""
    _claim_seconds.observe(seconds)
    _claimed.inc(jobs)


def stage_ended(type: str, stage: str, *, seconds: float) -> None:
    _stage_seconds.labels(type, stage).observe(seconds)


class AttemptKind(NamedTuple):
    """What attempts are counted by."""

    type: str
    status: str
    """The job's new status, or `dropped`."""
    code: str | None = None
    given_back: bool = False
    """The attempt does not count."""


def attempts_ended(seconds: Mapping[AttemptKind, Sequence[float]]) -> None:
    """Count attempts that ended, by how long each took."""
    for kind, durations in seconds.items():
        waits = "waiting" if kind.given_back else "retry"
        outcome = waits if kind.status == "pending" else kind.status
        attempts, job_seconds = _of_attempts(kind.type, outcome, kind.code or "")
        attempts.inc(len(durations))
        for each in durations:
            job_seconds.observe(each)
        if outcome == "retry":
            _retries.labels(kind.type).inc(len(durations))


@cache
def _of_attempts(type: str, outcome: str, code: str) -> tuple[Counter, Histogram]:
    """The metrics of attempts, cached because looking up labels takes longer than counting."""
    return _attempts.labels(type, outcome, code), _job_seconds.labels(type, outcome)


def recovered(jobs: int) -> None:
    """Count jobs that were recovered from stale workers."""
    _rescued.inc(jobs)


def embedding_call(outcome: str, *, seconds: float, texts: int = 0, tokens: int = 0) -> None:
    """Count a request to the embedder. `outcome`: `ok`, `refused`, or an error code."""
    _embedding_calls.labels(outcome).inc()
    _embedding_seconds.observe(seconds)
    _embedded_texts.inc(texts)
    _embedded_tokens.inc(tokens)


def document_read(warnings: Sequence[str]) -> None:
    """Count a document that was read, with its warnings.

    Codes come from the sandbox, so unknown ones share a label. Skipped steps are counted by
    `step_skipped` instead.
    """
    for code in warnings:
        if not code.endswith("_skipped"):
            _warnings.labels(code if code in WARNINGS else "other").inc()


def embeddings_reused(texts: int) -> None:
    """Count texts whose vectors were stored already."""
    _reused.inc(texts)


def request_answered(method: str, route: str, status: int, *, seconds: float) -> None:
    """Count a request once its response is sent.

    `route` is the template, such as `/api/jobs/{id}`: paths would be unbounded labels.
    """
    _requests.labels(method, route, str(status)).inc()
    _request_seconds.labels(route).observe(seconds)


def socket_opened() -> None:
    _sockets.inc()


def socket_closed() -> None:
    _sockets.dec()


def searched(mode: str, *, seconds: float) -> None:
    _search_seconds.labels(mode).observe(seconds)


def statement_timed_out(asked_by: Literal["search", "request", "metrics"]) -> None:
    _statement_timeouts.labels(asked_by).inc()


def quota_refused(quota: str) -> None:
    """Count a request or file that was refused; `quota`: one of ingest/quotas.py."""
    _quota_refusals.labels(quota).inc()


def search_degraded(code: str) -> None:
    """Count a search that ran without vectors, or without an earlier model's."""
    _degraded.labels(code).inc()


def search_not_reranked(code: str) -> None:
    """Count a search that kept its first ranking because the reranker failed."""
    _not_reranked.labels(code).inc()


def exposition(*collectors: Collector) -> bytes:
    """All metrics of the collectors in Prometheus' text format; that of this process: REGISTRY."""
    return b"".join(map(generate_latest, collectors))


def listening(arrive: bool) -> None:
    """Record whether notifications from Postgres arrive."""
    _listening.set(arrive)
