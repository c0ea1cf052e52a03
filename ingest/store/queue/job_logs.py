"""The audit trail of jobs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

from psycopg.types.json import Jsonb

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("queue/job_logs.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    job_id: UUID
    attempt: int
    message: str
    level: Literal["info", "warning", "error"] = "info"
    stage: str | None = None
    details: dict[str, Any] = field(default_factory=dict)
    duration: timedelta | None = None


async def add_logs(conn: Connection, lines: Sequence[LogLine]) -> None:
    """Append to the audit trail of jobs."""
    if not lines:
        return
    await conn.execute(
        _SQL["add_logs"],
        {
            "job_ids": [line.job_id for line in lines],
            "attempts": [line.attempt for line in lines],
            "levels": [line.level for line in lines],
            "stages": [line.stage for line in lines],
            "messages": [line.message for line in lines],
            "details": [Jsonb(line.details) for line in lines],
            "durations": [_milliseconds(line.duration) for line in lines],
        },
    )


def _milliseconds(duration: timedelta | None) -> int | None:
    return None if duration is None else round(duration / timedelta(milliseconds=1))
