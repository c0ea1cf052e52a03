"""OpenTelemetry traces: from a request through the jobs that it queued to calls of providers.

Off until `start` is called; while off, each function here only tests one variable. Attributes are
names, numbers and codes: no text, no key, and of a URL only the host.
"""

import contextvars
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from opentelemetry.context import Context, attach, detach
from opentelemetry.trace import (
    INVALID_SPAN,
    Link,
    Span,
    SpanContext,
    SpanKind,
    StatusCode,
    Tracer,
    TracerProvider,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from ingest.errors import SetupError

Attributes = Mapping[str, str | int | float]

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_W3C: Final = TraceContextTextMapPropagator()
_HEADER: Final = "traceparent"

# Global, like the OpenTelemetry context that it fills.
_tracer: Tracer | None = None


def start(provider: TracerProvider) -> None:
    """Send all further spans to this provider."""
    global _tracer
    _tracer = provider.get_tracer("rag-ingest")


def stop() -> None:
    """Create no more spans."""
    global _tracer
    _tracer = None


@contextmanager
def exported() -> Iterator[None]:
    """Export spans to OTEL_EXPORTER_OTLP_ENDPOINT; do nothing if it is not set.

    All variables of the OTLP exporter and the SDK apply. Remaining spans are sent at the end.
    Raises SetupError if the extra `tracing` is missing.
    """
    if not any(os.environ.get(name) for name in _ENDPOINTS):
        yield
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider as Provider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise SetupError(
            f"{_ENDPOINTS[0]}: traces need the optional extra: pip install 'rag-ingest[tracing]'"
        ) from None
    name = os.environ.get("OTEL_SERVICE_NAME") or "rag-ingest"
    provider = Provider(resource=Resource.create({"service.name": name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    start(provider)
    try:
        yield
    finally:
        stop()
        provider.shutdown()


def traceparent() -> str | None:
    """The current span as a W3C traceparent, to store with queued jobs; None without a span."""
    if _tracer is None:
        return None
    carrier: dict[str, str] = {}
    _W3C.inject(carrier)
    return carrier.get(_HEADER)


@contextmanager
def within(traceparent: str | None) -> Iterator[None]:
    """Make spans of the block children of a span that may have ended or be in another process."""
    if _tracer is None or traceparent is None:
        yield
        return
    token = attach(_context(traceparent))
    try:
        yield
    finally:
        detach(token)


@contextmanager
def server_span(method: str, *, traceparent: str | None) -> Iterator[Span]:
    """The span of an incoming request, in the caller's trace if there is one."""
    with _span(method, SpanKind.SERVER, parents=[traceparent]) as span, _failing(span):
        yield span


def job_span(
    type: str, *, attempt: int, traceparent: str | None
) -> tuple[Span, contextvars.Context] | None:
    """The span of one attempt, in the trace of the request that queued the job; None if tracing is
    off. Code that runs in the returned context belongs to the span. It lasts until `end_job`."""
    if _tracer is None:
        return None
    span = _tracer.start_span(
        f"job {type}",
        context=_context(traceparent) if traceparent is not None else Context(),
        kind=SpanKind.CONSUMER,
        attributes={"job.type": type, "job.attempt": attempt},
    )
    context = contextvars.copy_context()
    context.run(attach, set_span_in_context(span))
    return span, context


def end_job(span: Span, *, status: str, code: str | None) -> None:
    """End the span of an attempt. `status`: the job's new status, or `dropped`."""
    span.set_attribute("job.status", status)
    if code is not None:
        failed(span, code)
    span.end()


@contextmanager
def client_span(
    name: str,
    attributes: Attributes | None = None,
    *,
    parents: Sequence[str | None] | None = None,
) -> Iterator[Span]:
    """The span of a request to a provider. `parents` replaces the current span as its parent.

    The span joins the trace of the first parent and links to the rest. An exception marks it as
    failed.
    """
    with _span(name, SpanKind.CLIENT, attributes, parents=parents) as span, _failing(span):
        yield span


def failed(span: Span, code: str) -> None:
    """Mark a span as failed, with a code only: messages may quote confidential text."""
    span.set_attribute("error.type", code)
    span.set_status(StatusCode.ERROR)


@contextmanager
def _failing(span: Span) -> Iterator[None]:
    """Mark the span as failed if the block raises."""
    try:
        yield
    except Exception as error:
        failed(span, getattr(error, "code", None) or type(error).__name__)
        raise


@contextmanager
def _span(
    name: str,
    kind: SpanKind,
    attributes: Attributes | None = None,
    *,
    parents: Sequence[str | None] | None = None,
) -> Iterator[Span]:
    if _tracer is None:
        yield INVALID_SPAN
        return
    known = list(dict.fromkeys(parent for parent in parents or () if parent is not None))
    links = [Link(_span_context(parent)) for parent in known[1:]]
    with _tracer.start_as_current_span(
        name,
        context=_context(known[0]) if known else None if parents is None else Context(),
        kind=kind,
        attributes=attributes,
        links=links,
        # Both options would export the exception's message.
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        yield span


def _context(traceparent: str) -> Context:
    return _W3C.extract({_HEADER: traceparent}, Context())


def _span_context(traceparent: str) -> SpanContext:
    return get_current_span(_context(traceparent)).get_span_context()
