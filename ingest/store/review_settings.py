"""Which reviews an application wants."""

from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row

from ingest.db import Connection, load_queries

_SQL = load_queries("review_settings.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationSettings:
    reviews: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    reviews: list[str]


async def settings_of(conn: Connection, application_id: UUID) -> ApplicationSettings:
    async with conn.cursor(row_factory=class_row(_Row)) as cur:
        await cur.execute(_SQL["settings"], {"id": application_id})
        row = await cur.fetchone()
    return ApplicationSettings(reviews=frozenset(row.reviews if row else ["mass_deletion"]))
