"""Traces by OpenTelemetry, from a request over the job that it queued to the calls of providers.

Off unless `start` was called, and then every function here is a test of one variable. Attributes
are names, numbers and codes: no text, no address beyond its host, no key.
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

# As the context that it fills, a tracer belongs to the process.
_tracer: Tracer | None = None


def start(provider: TracerProvider) -> None:
    """From now on, spans go to this provider."""
    global _tracer
    _tracer = provider.get_tracer("rag-ingest")


def stop() -> None:
    """No spans any more."""
    global _tracer
    _tracer = None


@contextmanager
def exported() -> Iterator[None]:
    """Send spans where OTEL_EXPORTER_OTLP_ENDPOINT says; without it, do nothing.

    All variables of the OTLP exporter and of the SDK hold. What is left is sent at the end. Raises
    SetupError when the extra `tracing` is missing.
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
    """The current span as W3C trace context, to go with what it queues; None without one."""
    if _tracer is None:
        return None
    carrier: dict[str, str] = {}
    _W3C.inject(carrier)
    return carrier.get(_HEADER)


@contextmanager
def within(traceparent: str | None) -> Iterator[None]:
    """Let what is begun in the block belong to a span that may be over, or of another process."""
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
    """A request that is being answered; in the caller's trace if it names one."""
    with _span(method, SpanKind.SERVER, parents=[traceparent]) as span, _failing(span):
        yield span


def job_span(
    type: str, *, attempt: int, traceparent: str | None
) -> tuple[Span, contextvars.Context] | None:
    """An attempt at a job, in the trace of the request that queued it; None: nothing is traced.

    What is run in the context belongs to the span, which lasts until `end_job`.
    """
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
    """The attempt is over: `status` as the job has it now, or `dropped`."""
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
    """A request to a provider. `parents`: for whom, if not for the current span alone.

    It belongs to the trace of the first, and links to the others. An exception is its outcome.
    """
    with _span(name, SpanKind.CLIENT, attributes, parents=parents) as span, _failing(span):
        yield span


def failed(span: Span, code: str) -> None:
    """Mark a span as failed, by a code: messages may quote what must not leave the house."""
    span.set_attribute("error.type", code)
    span.set_status(StatusCode.ERROR)


@contextmanager
def _failing(span: Span) -> Iterator[None]:
    """Let an exception be the span's outcome."""
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
        # Both would tell the exception's message.
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        yield span


def _context(traceparent: str) -> Context:
    return _W3C.extract({_HEADER: traceparent}, Context())


def _span_context(traceparent: str) -> SpanContext:
    return get_current_span(_context(traceparent)).get_span_context()
