"""Builds the HNSW index of a model anew, beside the one that searches use.

    begin    names the next generation
    stage    moves buffered vectors to `rag.embeddings` (fresh_vectors.move), as rows of that
             generation; the current index does not get them, so searches compare them one by one
    create   builds the index of all rows up to that generation, while others read and write
    switch   searches use it; the old one is dropped

Each step is committed, and each can be repeated: a process that dies leaves a generation that is
being built, and perhaps an invalid index, and the next one goes on from there. A vector is always
in the buffer, staged, or under the index that searches use.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import psycopg
from psycopg import sql
from psycopg.rows import class_row, scalar_row

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("embeddings/index_builds.sql")

_PREFIX: Final = "embeddings_hnsw"

IndexType = Literal["vector", "halfvec"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexLevel:
    """How many vectors of a model wait for its index, and what is known of its build."""

    model_id: int
    dimension: int
    index_type: IndexType
    fresh: int
    """Vectors in the buffer; counted up to the bound."""
    is_building: bool
    """A build has begun; it may have been broken off."""
    attempts: int
    may_build: bool
    """False for a day after several attempts failed."""
    build_memory: int
    """Bytes that a build may use; of a larger graph, the rest is inserted row by row."""
    has_leftovers: bool
    """Whether there are more indexes than the one that searches use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    model_id: int
    dimension: int
    index_type: IndexType
    generation: int
    attempts: int

    @property
    def index(self) -> str:
        return index_name(self.model_id, self.generation)


class _Index(NamedTuple):
    relname: str
    indisvalid: bool
    index_generation: int
    build_generation: int | None
    takes_all: bool


def index_name(model_id: int, generation: int) -> str:
    return f"{_PREFIX}_{model_id}_{generation}" if generation else f"{_PREFIX}_{model_id}"


async def levels(conn: Connection, *, bound: int) -> list[IndexLevel]:
    """The level of each model; counting stops at `bound`."""
    async with conn.cursor(row_factory=class_row(IndexLevel)) as cur:
        await cur.execute(_SQL["levels"], {"bound": bound})
        return await cur.fetchall()


async def count_indexed(conn: Connection, model_id: int, *, bound: int) -> int:
    return int(await _scalar(conn, "count_indexed", model_id=model_id, bound=bound))


@asynccontextmanager
async def lock(conn: Connection) -> AsyncIterator[bool]:
    """Become the only builder while the block runs; False when another is.

    `conn` has a session of its own. It is closed after an error, and the lock ends with it.
    """
    is_ours = bool(await _scalar(conn, "lock_building"))
    try:
        yield is_ours
        if is_ours:
            await conn.execute(_SQL["unlock_building"])
    except BaseException:
        with suppress(psycopg.Error):
            await conn.close()
        raise


async def lock_for_transaction(conn: Connection) -> bool:
    """Try to become the only builder until the transaction ends."""
    return bool(await _scalar(conn, "lock_building_for_transaction"))


async def begin(conn: Connection, model_id: int) -> Build:
    """Begin a build, or another attempt at one that was broken off."""
    async with conn.cursor(row_factory=class_row(Build)) as cur:
        await cur.execute(_SQL["begin"], {"model_id": model_id})
        [build] = await cur.fetchall()
        return build


async def is_staging_cheap(conn: Connection, model_id: int) -> bool:
    """Whether no index gets staged vectors. One of an earlier version does: replace it first."""
    return not any(index.takes_all for index in await _indexes(conn, model_id))


async def create(conn: Connection, build: Build, *, is_parallel: bool) -> None:
    """Build the index, outside of a transaction; returns when it is valid.

    Waits for the transactions that were open at the beginning. Needs the lock: an index of this
    name that is not valid was broken off.
    """
    found = {index.relname: index.indisvalid for index in await _indexes(conn, build.model_id)}
    if found.get(build.index):
        return  # it was completed for a client that had died
    if build.index in found:
        await _drop(conn, build.index)
    if not is_parallel:
        await conn.execute(_SQL["set_parallel_workers"])
    await conn.execute(
        sql.SQL(_SQL["create"].decode()).format(
            index=sql.Identifier(build.index),
            type=sql.SQL(build.index_type),
            operators=sql.SQL(f"{build.index_type}_cosine_ops"),
            dimension=sql.Literal(build.dimension),
            model_id=sql.Literal(build.model_id),
            generation=sql.Literal(build.generation),
        )
    )
    if not is_parallel:
        await conn.execute(_SQL["reset_parallel_workers"])


async def switch(conn: Connection, build: Build) -> None:
    """Let searches use the index from this commit on."""
    parameters = {"model_id": build.model_id, "generation": build.generation}
    await conn.execute(_SQL["switch"], parameters)


async def drop_leftovers(conn: Connection, model_id: int) -> int:
    """Drop indexes that no search uses, outside of a transaction; returns how many.

    Waits for searches that still use one. Needs the lock.
    """
    indexes = await _indexes(conn, model_id)
    unneeded = leftovers(model_id, indexes)
    for name in unneeded:
        await _drop(conn, name)
    return len(unneeded)


def leftovers(model_id: int, indexes: Sequence[_Index]) -> list[str]:
    """Those that can go. None if the one that searches use is missing, or one is being built."""
    valid = {index.relname for index in indexes if index.indisvalid}
    return [
        index.relname
        for index in indexes
        if index.build_generation is None
        and (used := index_name(model_id, index.index_generation)) in valid
        and index.relname != used
    ]


async def settle(conn: Connection, model_id: int, *, limit: int) -> int:
    """Put staged vectors under the current index, row by row; returns how many."""
    parameters = {"model_id": model_id, "limit": limit}
    return (await conn.execute(_SQL["settle"], parameters)).rowcount


async def give_up(conn: Connection, model_id: int) -> bool:
    """End a build that failed, for a day. False while vectors are staged for it."""
    return (await conn.execute(_SQL["give_up"], {"model_id": model_id})).rowcount > 0


async def _indexes(conn: Connection, model_id: int) -> list[_Index]:
    async with conn.cursor(row_factory=class_row(_Index)) as cur:
        await cur.execute(_SQL["indexes"], {"model_id": model_id})
        return await cur.fetchall()


async def _drop(conn: Connection, index: str) -> None:
    await conn.execute(
        sql.SQL(_SQL["drop"].decode()).format(index=sql.Identifier(index)), prepare=False
    )


async def _scalar(conn: Connection, name: str, **parameters: int) -> Any:
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL[name], parameters or None)
        return await cur.fetchone()
