"""Put new vectors under the HNSW index: move them to it, or build it anew with them.

One process of the installation at a time. Moves are short transactions: a concurrent delete or
replace waits for one of them at most, and a killed process keeps what it committed. A build blocks
nobody, and another process goes on with one that was broken off.
"""

from dataclasses import dataclass
from typing import Final

import structlog

from ingest.postgres.database import Connection, Pool, transaction
from ingest.postgres.sessions import shares_session
from ingest.store.embeddings import fresh_vectors, index_builds
from ingest.store.embeddings.index_builds import IndexLevel
from ingest.ticks.index_plan import Waiting, fits, next_step

log = structlog.get_logger()

# Inserting one vector takes Postgres 1 to 4 ms; 0.1 ms where the index does not get it.
_AT_ONCE: Final = 100
_STAGED_AT_ONCE: Final = 1_000
# A server that builds take down must not be taken down for ever.
_MOST_ATTEMPTS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """What was done, or what must be done outside of a transaction."""

    indexed: int = 0
    level: IndexLevel | None = None
    """Of the model whose index is to be built, or to be tidied up after a build."""
    builds: bool = False
    is_quiet: bool = False


async def index_vectors(pool: Pool) -> int:
    """Index vectors while the queue is idle, or while too many wait; returns how many."""
    total = 0
    while True:
        turn = await _take_turn(pool)
        indexed = turn.indexed if turn.level is None else await _build_next(pool)
        if not indexed:
            break
        total += indexed
    if total:
        log.info("vectors.indexed", count=total)
    return total


async def _take_turn(pool: Pool) -> _Turn:
    async with transaction(pool) as conn:
        if not await fresh_vectors.lock_moving(conn):
            return _Turn()
        levels = await index_builds.levels(conn, bound=fresh_vectors.COUNTED)
        if not any(level.fresh or level.is_building or level.has_leftovers for level in levels):
            return _Turn()
        is_quiet = await fresh_vectors.is_quiet(conn)
        for level in levels:
            turn = await _turn_of(conn, level, is_quiet=is_quiet)
            if turn.indexed or turn.level:
                return turn
        tidied = (one for one in levels if one.has_leftovers and not shares_session(conn))
        return _Turn(level=next(tidied, None))


async def _turn_of(conn: Connection, level: IndexLevel, *, is_quiet: bool) -> _Turn:
    can_build = not shares_session(conn)
    if level.is_building and (not can_build or level.attempts >= _MOST_ATTEMPTS):
        return _Turn(indexed=await _settle(conn, level))
    if level.is_building:
        return _Turn(level=level, builds=True, is_quiet=is_quiet)
    waiting = Waiting(
        fresh=level.fresh,
        capacity=fresh_vectors.capacity(level.dimension),
        is_quiet=is_quiet,
        can_build=can_build and level.may_build,
        fits=fits(level.build_memory, level.dimension, level.index_type),
    )
    if waiting.is_low:
        return _Turn()
    bound = waiting.most_indexed + 1
    match next_step(waiting, await index_builds.count_indexed(conn, level.model_id, bound=bound)):
        case "build":
            return _Turn(level=level, builds=True, is_quiet=is_quiet)
        case "move":
            return _Turn(indexed=await fresh_vectors.move(conn, level.model_id, limit=_AT_ONCE))
        case "wait":
            return _Turn()


async def _settle(conn: Connection, level: IndexLevel) -> int:
    """Do without a build that failed too often, unless another process is still at it."""
    if not await index_builds.lock_for_transaction(conn):
        return 0
    settled = await index_builds.settle(conn, level.model_id, limit=_AT_ONCE)
    if not settled and await index_builds.give_up(conn, level.model_id):
        log.warning("vectors.index_not_built", model_id=level.model_id)
    return settled


async def _build_next(pool: Pool) -> int:
    """Build the index of the model whose turn it is; returns how many vectors it got."""
    async with pool.session() as conn:
        if shares_session(conn):
            return 0
        async with index_builds.lock(conn) as is_ours:
            # Once more: another process may have built it since.
            turn = await _take_turn(pool) if is_ours else _Turn()
            if turn.level is None:
                return turn.indexed
            staged = 0
            if turn.builds:
                staged = await _build(pool, conn, turn.level, is_quiet=turn.is_quiet)
            await index_builds.drop_leftovers(conn, turn.level.model_id)
            return staged


async def _build(pool: Pool, conn: Connection, level: IndexLevel, *, is_quiet: bool) -> int:
    async with transaction(pool) as own:
        build = await index_builds.begin(own, level.model_id)
        is_cheap = await index_builds.is_staging_cheap(own, level.model_id)
    staged = await _stage(pool, level) if is_cheap else 0
    # Several processors at once only while no job needs them; with more shared memory than some
    # containers have.
    is_parallel = is_quiet and build.attempts == 1
    await index_builds.create(conn, build, is_parallel=is_parallel)
    async with transaction(pool) as own:
        await index_builds.switch(own, build)
    log.info("vectors.index_built", model_id=build.model_id, generation=build.generation)
    return staged


async def _stage(pool: Pool, level: IndexLevel) -> int:
    """Those that waited at the beginning; more may come all the time."""
    staged = 0
    while staged < level.fresh:
        async with transaction(pool) as conn:
            if not await fresh_vectors.lock_moving(conn):
                break
            moved = await fresh_vectors.move(conn, level.model_id, limit=_STAGED_AT_ONCE)
        if not moved:
            break
        staged += moved
    return staged
