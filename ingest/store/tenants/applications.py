"""Applications, the tenants of an installation, and their settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Self, get_args
from uuid import UUID

from psycopg.rows import kwargs_row
from psycopg.types.json import Jsonb

from ingest.model import ReviewReason
from ingest.postgres.database import Connection, load_queries, new_id
from ingest.quotas import Quota, own_quotas
from ingest.store.documents.chunking import ChunkingOverrides
from ingest.store.lenient_json import positive_integer

_SQL = load_queries("tenants/applications.sql")

LARGEST_WEIGHT: Final = 100

Position = tuple[datetime, UUID]
"""`created_at` and id of the last row of a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationSettings:
    """Stored in camelCase; missing or invalid stored values get these defaults."""

    weight: int = 1
    """Relative share of the workers, 1 to 100."""
    tokens_per_day: int | None = None
    """Tokens that may be sent to embedding providers in a UTC day; None: no budget."""
    reviews: frozenset[ReviewReason] = frozenset({"mass_deletion"})
    """Changes that need a review."""
    chunking: ChunkingOverrides = field(default_factory=ChunkingOverrides)
    """Chunk settings for sources without their own."""
    quotas: Mapping[Quota, int] = field(default_factory=dict)
    """Its own quotas, in camelCase; those of the installation apply for the rest."""

    @classmethod
    def from_json(cls, stored: Any) -> Self:
        given = stored if isinstance(stored, dict) else {}
        usual = cls()
        reviews = given.get("reviews")
        return cls(
            weight=min(max(positive_integer(given.get("weight")) or 1, 1), LARGEST_WEIGHT),
            tokens_per_day=positive_integer(given.get("tokensPerDay")),
            reviews=(
                frozenset(reason for reason in get_args(ReviewReason) if reason in reviews)
                if isinstance(reviews, list)
                else usual.reviews
            ),
            chunking=ChunkingOverrides.from_json(given.get("chunking")),
            quotas=own_quotas(given.get("quotas")),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    id: UUID
    name: str
    settings: ApplicationSettings
    is_default: bool
    created_at: datetime


async def lock_sources(conn: Connection, application_id: UUID) -> None:
    """Let one transaction at a time add or remove sources of an application.

    Before any row lock (docs/locks.md). Workers never take it, so it never waits for one.
    """
    await conn.execute(_SQL["lock_sources"], {"application_id": application_id})


async def default_id(conn: Connection) -> UUID:
    """The application that requests with the operator's key use by default."""
    row = await (await conn.execute(_SQL["default_id"])).fetchone()
    if row is None:
        raise RuntimeError("there is no default application")
    return UUID(str(row[0]))


async def add(conn: Connection, *, name: str) -> Application:
    async with conn.cursor(row_factory=kwargs_row(_application)) as cur:
        await cur.execute(_SQL["add"], {"id": new_id(), "name": name})
        added = await cur.fetchone()
    if added is None:
        raise RuntimeError("an insert returned no row")
    return added


async def get(conn: Connection, id: UUID) -> Application | None:
    async with conn.cursor(row_factory=kwargs_row(_application)) as cur:
        await cur.execute(_SQL["get"], {"id": id})
        return await cur.fetchone()


async def list_applications(
    conn: Connection, *, limit: int, before: Position | None
) -> list[Application]:
    """Applications, newest first."""
    time, after = before or (None, None)
    async with conn.cursor(row_factory=kwargs_row(_application)) as cur:
        await cur.execute(_SQL["list"], {"limit": limit, "before_time": time, "before_id": after})
        return await cur.fetchall()


async def edit(
    conn: Connection, id: UUID, *, name: str | None, settings: Mapping[str, Any]
) -> Application | None:
    """Rename an application, unless `name` is None, and merge `settings` into the stored JSON.

    None if there is no such application.
    """
    async with conn.cursor(row_factory=kwargs_row(_application)) as cur:
        await cur.execute(_SQL["edit"], {"id": id, "name": name, "settings": Jsonb(dict(settings))})
        return await cur.fetchone()


async def settings_of(conn: Connection, application_id: UUID) -> ApplicationSettings:
    """The settings of an application; the defaults if it does not exist."""
    application = await get(conn, application_id)
    return ApplicationSettings() if application is None else application.settings


def _application(*, settings: Any, **columns: Any) -> Application:
    return Application(settings=ApplicationSettings.from_json(settings), **columns)
