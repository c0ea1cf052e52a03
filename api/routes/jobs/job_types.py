"""Job types: how each type of job is run, for the whole installation."""

from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any, Final, Self

from fastapi.responses import JSONResponse
from pydantic import AfterValidator, BeforeValidator, Field

from api.authenticated_route import KeyedRouter
from api.dependencies import Operator, PoolDep, Viewer
from api.idempotency import IdempotentDep
from api.problems import FieldRejected
from api.schema import pagination
from api.schema.json_model import Body, Flag, Text, Whole
from api.schema.openapi import problems
from api.schema.pagination import Cursor, Limit, Page
from api.schema.payload_schema import MAX_SCHEMA_BYTES, limit_size, validate_schema
from ingest.errors import Conflict, NotFound
from ingest.postgres.database import Connection, transaction
from ingest.store.queue import job_types, queue_stats
from ingest.store.view import View

router = KeyedRouter(prefix="/api/job-types", tags=["management"])

# Lower bounds, because a duration that the database rounds to zero would mean no wait or run time.
Backoff = Annotated[float, Field(ge=0.1, le=7 * 86400, allow_inf_nan=False)]
Timeout = Annotated[float, Field(ge=1, le=7 * 86400, allow_inf_nan=False)]
Attempts = Annotated[Whole, Field(ge=1, le=100)]
Concurrent = Annotated[Whole, Field(ge=1, le=10_000)]
Rate = Annotated[Whole, Field(ge=1, le=1_000_000)]
Name = Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,62}$")]
PayloadSchema = Annotated[
    dict[str, Any],
    BeforeValidator(lambda value: limit_size(value, MAX_SCHEMA_BYTES)),
    AfterValidator(validate_schema),
]

_SECONDS: Final = {
    "backoff_base_seconds": "backoff_base",
    "backoff_cap_seconds": "backoff_cap",
    "timeout_seconds": "timeout",
    "stage_timeout_seconds": "stage_timeout",
}
_COUNTED: Final = 10_001
_NULLABLE: Final = ("max_concurrent", "rate_per_minute", "payload_schema")
_DEFAULT_STAGE_TIMEOUT: Final = timedelta(minutes=10)
_DEFAULTS: Final = job_types.JobType(
    type="",
    handler="",
    max_attempts=5,
    backoff_base=timedelta(seconds=2),
    backoff_cap=timedelta(minutes=10),
    timeout=timedelta(minutes=30),
    stage_timeout=_DEFAULT_STAGE_TIMEOUT,
)


class JobType(View):
    type: str
    handler: str
    max_attempts: int
    backoff_base_seconds: float
    backoff_cap_seconds: float
    timeout_seconds: float
    stage_timeout_seconds: float
    max_concurrent: int | None
    rate_per_minute: int | None
    payload_schema: dict[str, Any] | None
    is_built_in: bool
    is_enabled: bool
    is_paused: bool

    @classmethod
    def of(cls, row: job_types.JobType) -> Self:
        seconds = {name: getattr(row, column).total_seconds() for name, column in _SECONDS.items()}
        return cls(
            type=row.type,
            handler=row.handler,
            max_attempts=row.max_attempts,
            max_concurrent=row.max_concurrent,
            rate_per_minute=row.rate_per_minute,
            payload_schema=row.payload_schema,
            is_built_in=row.is_built_in,
            is_enabled=row.is_enabled,
            is_paused=row.is_paused,
            **seconds,
        )


class JobsOfType(View):
    type: str
    ready: int
    oldest_seconds: float | None
    """Age of the oldest ready job."""
    processing: int
    overdue: int
    """Running for over five minutes longer than their timeout."""
    failed: int
    review_needed: int


class TypeCounts(View):
    items: list[JobsOfType]


class JobTypePatch(Body):
    """Fields that are left out stay unchanged; null removes a limit.

    Without a schema, requests cannot queue jobs of the type.
    """

    is_enabled: Flag | None = None
    is_paused: Flag | None = None
    max_attempts: Attempts | None = None
    backoff_base_seconds: Backoff | None = None
    backoff_cap_seconds: Backoff | None = None
    timeout_seconds: Timeout | None = None
    stage_timeout_seconds: Timeout | None = None
    max_concurrent: Concurrent | None = None
    rate_per_minute: Rate | None = None
    payload_schema: PayloadSchema | None = None

    def applied_to(self, row: job_types.JobType) -> job_types.JobType:
        """Apply these changes to the type; raises FieldRejected if two limits contradict."""
        changed = replace(row, **self._changes())
        if changed.backoff_cap < changed.backoff_base:
            raise self._contradiction("backoff_cap_seconds", "backoff_base_seconds", "below")
        if changed.stage_timeout > changed.timeout:
            raise self._contradiction("stage_timeout_seconds", "timeout_seconds", "above")
        return changed

    def _changes(self) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        for name in self.model_fields_set & JobTypePatch.model_fields.keys():
            value = getattr(self, name)
            if name in _SECONDS and value is not None:
                changes[_SECONDS[name]] = timedelta(seconds=value)
            elif name in _NULLABLE or value is not None:
                changes[name] = value
        return changes

    def _contradiction(self, lesser: str, other: str, where: str) -> FieldRejected:
        named = lesser if lesser in self.model_fields_set else other
        names = [type(self).model_fields[name].alias or name for name in (lesser, other, named)]
        return FieldRejected(f"{names[0]} must not be {where} {names[1]}", loc=("body", names[2]))


class NewJobType(JobTypePatch):
    type: Name
    handler: Name | None = None
    """Name of the handler, if it differs from the type."""

    def row(self) -> job_types.JobType:
        named = replace(_DEFAULTS, type=self.type, handler=self.handler or self.type)
        if self.timeout_seconds is not None and self.stage_timeout_seconds is None:
            timeout = timedelta(seconds=self.timeout_seconds)
            named = replace(named, stage_timeout=min(_DEFAULT_STAGE_TIMEOUT, timeout))
        return self.applied_to(named)


@router.get("")
async def list_job_types(
    pool: PoolDep, key: Viewer, *, limit: Limit = 50, cursor: Cursor = None
) -> Page[JobType]:
    """The settings of each job type, by name."""
    async with transaction(pool) as conn:
        rows = await job_types.all_types(conn)
    after = pagination.name(cursor) or ""
    views = sorted((JobType.of(row) for row in rows if row.type > after), key=lambda row: row.type)
    return pagination.page(views, limit, key=lambda row: (row.type,))


@router.get("/counts")
async def count_jobs_of_types(pool: PoolDep, key: Operator) -> TypeCounts:
    """How many jobs of each type are ready, run and failed, over all applications.

    Counts stop at 10,001, which means "more than 10,000".
    """
    async with transaction(pool) as conn:
        rows = await queue_stats.read_types(conn, bound=_COUNTED)
    return TypeCounts(items=[JobsOfType.model_validate(row, from_attributes=True) for row in rows])


@router.patch("/{type}")
async def edit_job_type(type: Text, body: JobTypePatch, pool: PoolDep, key: Operator) -> JobType:
    """Pause, disable or tune a job type. Applies to all jobs that start after the response."""
    async with transaction(pool) as conn:
        row = await job_types.lock(conn, type)
        if row is None:
            raise NotFound("job type")
        if row.is_built_in and body.payload_schema is not None:
            raise FieldRejected(
                "only the service itself queues jobs of this type",
                loc=("body", "payloadSchema"),
                code="not_enqueueable",
            )
        changed = body.applied_to(row)
        await job_types.write(conn, changed)
    return JobType.of(changed)


@router.post("", status_code=201, response_model=JobType)
async def add_job_type(
    body: NewJobType, pool: PoolDep, key: Operator, idempotent: IdempotentDep
) -> JSONResponse:
    """Register a job type. Workers that have its handler run the jobs from POST /api/jobs."""
    row = body.row()

    async def work(conn: Connection) -> JobType:
        if await job_types.is_reserved(conn, row.handler):
            raise FieldRejected(
                "this handler is reserved for built-in job types",
                loc=("body", "handler" if body.handler else "type"),
                code="handler_reserved",
            )
        await job_types.add(conn, row)
        return JobType.of(row)

    return await idempotent.run_once(pool, work, application_id=key.application_id, status=201)


@router.delete("/{type}", status_code=204, responses=problems(409))
async def delete_job_type(type: Text, pool: PoolDep, key: Operator) -> None:
    """Delete a registered type that has no stored jobs."""
    async with transaction(pool) as conn:
        row = await job_types.get(conn, type)
        if row is not None and row.is_built_in:
            raise Conflict("a built-in job type cannot be deleted", code="built_in")
        if not await job_types.delete(conn, type):
            raise NotFound("job type")
