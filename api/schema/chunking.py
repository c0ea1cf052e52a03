"""Chunk settings in requests and responses."""

from collections.abc import Sequence
from typing import Annotated, Final
from uuid import UUID

from pydantic import Field

from api.problems import FieldRejected
from api.schema.json_model import Body, Flag, Whole
from ingest.model import ChunkBy
from ingest.postgres.database import Connection
from ingest.store.documents import chunking
from ingest.store.documents.chunking import SMALLEST_CHUNK, ChunkingDefaults, ChunkingOverrides
from ingest.store.tenants import applications
from ingest.store.view import View

# Above the limit of any model, so that a size above our model's limit gets the error that names it.
_MOST: Final = 10**6


class Chunking(Body):
    """A field that is null or left out is inherited: from the application, else the service."""

    size: Annotated[Whole, Field(ge=SMALLEST_CHUNK, le=_MOST)] | None = None
    """Tokens, at most the limit of the embedding model."""
    overlap: Annotated[Whole, Field(ge=0, le=_MOST)] | None = None
    """Tokens that neighbours share, at most half of the size."""
    by: ChunkBy | None = None
    """What ends a chunk before it is full: a major heading, the page, every row, or nothing."""
    leave_out_furniture: Flag | None = None
    """Of web sites: whether menus, footers and other blocks that repeat at the edges of the pages
    are left out."""


class EffectiveChunking(View):
    size: int
    overlap: int
    by: ChunkBy
    leave_out_furniture: bool


async def set_of_sources(
    conn: Connection,
    application_id: UUID,
    source_ids: Sequence[UUID],
    given: Chunking | None,
    defaults: ChunkingDefaults,
) -> None:
    """Set the chunk settings of sources; ids of missing sources are ignored."""
    await applications.lock_sources(conn, application_id)
    application = (await applications.settings_of(conn, application_id)).chunking
    own = checked(given, defaults, application, loc=("body", "chunking"))
    await chunking.set_for_sources(
        conn,
        application_id=application_id,
        source_ids=source_ids,
        own=own,
        application=application,
        defaults=defaults,
    )


def checked(
    given: Chunking | None,
    defaults: ChunkingDefaults,
    *outer: ChunkingOverrides,
    loc: Sequence[str],
) -> ChunkingOverrides:
    """Validate the settings and return them in the form to store; all unset if `given` is None.

    `outer`: the settings they override. Raises FieldRejected with the path of the invalid field,
    which starts with `loc`.
    """
    if given is None:
        return ChunkingOverrides()
    if given.size is not None and given.size > defaults.largest:
        raise FieldRejected(
            f"the limit of the embedding model is {defaults.largest} tokens", loc=(*loc, "size")
        )
    own = ChunkingOverrides(
        size=given.size,
        overlap=given.overlap,
        by=given.by,
        leave_out_furniture=given.leave_out_furniture,
    )
    size = defaults.effective(*outer, own).size
    if own.overlap is not None and 2 * own.overlap > size:
        raise FieldRejected(
            f"must be at most half of the size, which is {size}", loc=(*loc, "overlap")
        )
    return own
