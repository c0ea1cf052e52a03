"""Queue jobs of registered types, and retry failed jobs."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Self
from uuid import UUID

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import AwareDatetime, BeforeValidator, Field, model_validator

from api.authenticated_route import KeyedRouter
from api.authentication import Key
from api.dependencies import Editor, PoolDep, RuntimeDep
from api.idempotency import IdempotentDep
from api.problems import FieldRejected
from api.routes.jobs.jobs import find_job
from api.schema.json_model import Body, Text, Whole
from api.schema.openapi import problems
from api.schema.payload_schema import MAX_PAYLOAD_BYTES, limit_size, payload_errors
from ingest.errors import NotFound
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.queue import job_requests, job_types
from ingest.store.queue.job_requests import JobRequest
from ingest.store.queue.job_views import Job, JobFilter
from ingest.store.sources import batch_views, source_control, source_views
from ingest.store.view import View

router = KeyedRouter(prefix="/api/jobs", tags=["jobs"])

# `limit_size` also makes strings storable. It runs before pydantic's own validation, which rejects
# lone surrogates in a `str`.
Payload = Annotated[
    dict[str, Any], BeforeValidator(lambda value: limit_size(value, MAX_PAYLOAD_BYTES))
]
# Later times cannot be represented in every time zone.
RunAt = Annotated[AwareDatetime, Field(lt=datetime(3000, 1, 1, tzinfo=UTC))]


class NewJob(Body):
    type: Text
    payload: Payload = Field(default_factory=dict)
    """Identifiers, never content; at most 16 KiB. No response contains it."""
    priority: Annotated[Whole, Field(ge=-100, le=100)] = 0
    """Higher is first. Jobs below 0 run after all interactive work."""
    knowledge_source_id: UUID | None = None
    delay_seconds: Annotated[float, Field(ge=0, le=366 * 86400, allow_inf_nan=False)] | None = None
    run_at: RunAt | None = None
    idempotency_key: Annotated[Text, Field(min_length=1, max_length=255)] | None = None

    @model_validator(mode="after")
    def waits_for_one_time(self) -> Self:
        if self.delay_seconds is not None and self.run_at is not None:
            raise ValueError("give either delaySeconds or runAt, not both")
        return self


class FailedJobs(Body):
    """Which jobs; at least one field is required."""

    batch_id: UUID | None = None
    knowledge_source_id: UUID | None = None
    type: Text | None = None
    error_code: Text | None = None

    @model_validator(mode="after")
    def names_something(self) -> Self:
        if all(value is None for _, value in self):
            raise ValueError("give at least one of batchId, knowledgeSourceId, type and errorCode")
        return self


class Retried(View):
    job_count: int


@router.post("", status_code=202, response_model=Job, responses=problems(403))
async def add_job(
    body: NewJob, runtime: RuntimeDep, pool: PoolDep, key: Editor, idempotent: IdempotentDep
) -> JSONResponse:
    """Queue a job of a registered type.

    A request with the same `idempotencyKey` returns the same job. So does a request for the same
    work on the same knowledge source, while that job waits for its first attempt.
    """
    await _check(pool, body)

    async def work(conn: Connection) -> Job:
        delay = None if body.delay_seconds is None else timedelta(seconds=body.delay_seconds)
        if body.run_at is not None:
            delay = await job_requests.time_until(conn, body.run_at)
        request = JobRequest(
            application_id=key.application_id,
            type=body.type,
            payload=body.payload,
            source_id=body.knowledge_source_id,
            priority=body.priority,
            delay=delay or None,
            idempotency_key=body.idempotency_key,
            quotas=runtime.settings.quotas,
        )
        id = await job_requests.enqueue(conn, request)
        return await find_job(conn, key.application_id, id)

    return await idempotent.run_once(pool, work, application_id=key.application_id, status=202)


@router.post("/retry-failed", status_code=202)
async def retry_failed_jobs(body: FailedJobs, pool: PoolDep, key: Editor) -> Retried:
    """Queue failed jobs again, unless a newer run of their knowledge source replaced them."""
    async with transaction(pool) as conn:
        await _require_owned(conn, key, body)
    where = JobFilter(
        batch_id=body.batch_id,
        source_id=body.knowledge_source_id,
        type=body.type,
        error_code=body.error_code,
    )
    count, position = 0, None
    while True:
        async with transaction(pool) as conn:
            retried, position = await source_control.retry_failed(
                conn, application_id=key.application_id, where=where, before=position
            )
        count += retried
        if position is None:
            return Retried(job_count=count)


async def _check(pool: Pool, body: NewJob) -> None:
    """Check that the type accepts the payload. Raises errors that become a 422 with the field."""
    async with transaction(pool) as conn:
        job_type = await job_types.get(conn, body.type)
    if job_type is None:
        raise FieldRejected("unknown job type", loc=("body", "type"), code="unknown_type")
    if job_type.payload_schema is None:
        raise FieldRejected(
            "only the service itself queues jobs of this type",
            loc=("body", "type"),
            code="not_enqueueable",
        )
    # Run in a thread, so that an expensive schema check does not block other requests.
    wrong = await asyncio.to_thread(payload_errors, body.payload, job_type.payload_schema)
    if wrong:
        raise RequestValidationError(
            [
                {"loc": ("body", "payload", *item.path), "msg": item.message, "type": "schema"}
                for item in wrong
            ]
        )


async def _require_owned(conn: Connection, key: Key, body: FailedJobs) -> None:
    owner = key.application_id
    if body.batch_id is not None and not await batch_views.get(
        conn, application_id=owner, id=body.batch_id
    ):
        raise NotFound("batch")
    if body.knowledge_source_id is not None and not await source_views.get(
        conn, application_id=owner, id=body.knowledge_source_id
    ):
        raise NotFound("knowledge source")
