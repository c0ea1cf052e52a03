"""Traces: from an upload over its job to the provider, and nothing in them that is private."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from uuid import UUID, uuid4

import httpx
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode, format_trace_id

from ingest.blobs.local import LocalBlobStore
from ingest.errors import Transient
from ingest.handlers.documents.file import ingest_file
from ingest.observability import tracing
from ingest.postgres.database import Connection, Pool
from ingest.runtime import Runtime
from tests.api.helpers import upload
from tests.support.file_fixtures import House
from tests.support.queue_builders import enqueue, job_row
from tests.support.running_worker import Scripted, running_worker, until_status

INCOMING = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def exporter() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.start(provider)
    yield exporter
    tracing.stop()
    provider.shutdown()


@pytest.fixture
def house(pool: Pool, blobs: LocalBlobStore, runtime: Runtime) -> House:
    return House(pool, blobs, runtime.model_id)


def named(spans: Sequence[ReadableSpan], name: str) -> ReadableSpan:
    [found] = [span for span in spans if span.name == name]
    return found


def parent_id(span: ReadableSpan) -> int | None:
    return span.parent.span_id if span.parent else None


def span_id(span: ReadableSpan) -> int:
    assert span.context is not None
    return int(span.context.span_id)


def trace_id(span: ReadableSpan) -> str:
    assert span.context is not None
    return format_trace_id(span.context.trace_id)


async def test_upload_job_and_embedding_are_one_trace(
    exporter: InMemorySpanExporter,
    editor: httpx.AsyncClient,
    conn: Connection,
    dsn: str,
    pool: Pool,
    house: House,
) -> None:
    editor.headers["traceparent"] = INCOMING
    body = (await upload(editor, {"secret name.txt": b"secret words\nmore of them"})).json()
    handlers = {"file": ingest_file}
    async with running_worker(dsn, pool, handlers, context=house.context):
        await until_status(conn, body["files"][0]["jobId"], "completed")

    spans = exporter.get_finished_spans()
    request = named(spans, "POST /upload/documents")
    job = named(spans, "job file")
    embed = named(spans, "embed")
    assert {trace_id(span) for span in (request, job, embed)} == {INCOMING.split("-")[1]}
    assert parent_id(job) == span_id(request)
    assert parent_id(embed) == span_id(job)
    assert [span.kind for span in (request, job, embed)] == [
        SpanKind.SERVER,
        SpanKind.CONSUMER,
        SpanKind.CLIENT,
    ]
    assert dict(job.attributes or {}) == {
        "job.type": "file",
        "job.attempt": 1,
        "job.status": "completed",
    }
    everything = json.dumps([span.to_json() for span in spans])
    assert "secret" not in everything
    assert editor.headers["authorization"].partition(" ")[2] not in everything


async def test_shared_embedding_request_links_both_traces(
    exporter: InMemorySpanExporter, house: House
) -> None:
    embedder = house.context.embedder

    async def asked_by(name: str) -> None:
        with tracing.server_span(name, traceparent=None):
            await embedder.embed([name], [1], owner=uuid4())

    await asyncio.gather(asked_by("first"), asked_by("second"))

    spans = exporter.get_finished_spans()
    embed = named(spans, "embed")
    assert house.embedder.requests == [["first", "second"]]
    assert parent_id(embed) == span_id(named(spans, "first"))
    assert [link.context.span_id for link in embed.links] == [span_id(named(spans, "second"))]


async def test_span_of_a_failed_attempt_has_code_without_message(
    exporter: InMemorySpanExporter,
    conn: Connection,
    dsn: str,
    pool: Pool,
    application_id: UUID,
) -> None:
    handler = Scripted(Transient("secret words", code="fetch_failed"))
    [id] = await enqueue(conn, application_id)
    async with running_worker(dsn, pool, {"file": handler}):
        await until_status(conn, id, "completed")

    first, second = exporter.get_finished_spans()
    assert (first.attributes or {})["error.type"] == "fetch_failed"
    assert first.status.status_code == StatusCode.ERROR
    assert second.status.status_code == StatusCode.UNSET
    assert "secret" not in first.to_json()
    assert trace_id(first) != trace_id(second)  # nobody asked for it in a trace


async def test_an_exception_of_a_provider_is_a_code(exporter: InMemorySpanExporter) -> None:
    for error in (Transient("secret", code="rate_limited"), RuntimeError("secret")):
        with pytest.raises(type(error)), tracing.client_span("embed"):
            raise error

    codes = [(span.attributes or {})["error.type"] for span in exporter.get_finished_spans()]
    assert codes == ["rate_limited", "RuntimeError"]
    assert "secret" not in "".join(span.to_json() for span in exporter.get_finished_spans())


async def test_no_traces_without_an_exporter(editor: httpx.AsyncClient, conn: Connection) -> None:
    editor.headers["traceparent"] = INCOMING
    body = (await upload(editor, {"a.txt": b"text"})).json()

    job = await job_row(conn, body["files"][0]["jobId"])
    assert job["traceparent"] is None


async def test_explicit_parent_sets_the_trace_of_background_work(
    exporter: InMemorySpanExporter,
) -> None:
    with tracing.within(INCOMING):
        inside = tracing.traceparent()

    assert inside == INCOMING
    assert tracing.traceparent() is None
