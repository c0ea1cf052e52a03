"""A database filled under a released version is upgraded by all later migrations.

The dumps in `fixtures` name the checksums of their migrations, so that these tests fail when a
released migration is edited.
"""

from pathlib import Path
from uuid import UUID

import numpy as np
import psycopg
import pytest
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection

from ingest.postgres.database import Connection
from ingest.postgres.migrations import migrate
from ingest.postgres.sessions import begin_session
from ingest.store.lists import source_lists
from ingest.store.lists.source_lists import SourceFilter
from ingest.store.search.scope import SearchScope
from ingest.store.tenants import applications
from tests.support.queue_builders import claim
from tests.support.searchable_chunks import Space, nearest, texts

_RELEASES = sorted((Path(__file__).parent / "fixtures").glob("*.sql"))

# Everything that migrations make, one row per object. HNSW indexes are made for models.
_SCHEMA = """
with object as (
    select oid, oid::regclass::text as name, relkind, reloptions from pg_class
     where relnamespace in ('app'::regnamespace, 'rag'::regnamespace)
       and relname !~ '^embeddings_hnsw_')
select 'relation', name, relkind::text, reloptions::text from object
union all
select 'column', name || '.' || attname,
       concat_ws(' ', format_type(atttypid, atttypmod), attnotnull, attidentity, attstorage),
       pg_get_expr(adbin, adrelid)
  from object
  join pg_attribute on attrelid = oid and attnum > 0 and not attisdropped
  left join pg_attrdef on adrelid = attrelid and adnum = attnum
 where relkind = 'r'
union all
select 'index', name, pg_get_indexdef(oid), null from object where relkind = 'i'
union all
select 'constraint', name || '.' || conname, pg_get_constraintdef(pg_constraint.oid), null
  from object join pg_constraint on conrelid = object.oid where contype <> 'n'
union all
select 'parent', name, inhparent::regclass::text, null
  from object join pg_inherits on inhrelid = oid
union all
select 'statistics', stxname, pg_get_statisticsobjdef(oid), null from pg_statistic_ext
union all
select 'function', proname, pg_get_functiondef(oid), null from pg_proc
 where pronamespace in ('app'::regnamespace, 'rag'::regnamespace)
union all
select 'trigger', tgrelid::regclass || '.' || tgname, pg_get_triggerdef(oid), null from pg_trigger
 where not tgisinternal
union all
select 'job type', type, (to_jsonb(job_type) - 'created_at' - 'updated_at')::text, null
  from rag.job_types as job_type
"""


def _schema(dsn: str) -> set[tuple[str, str, str, str]]:
    with psycopg.connect(dsn) as conn:
        return set(conn.execute(_SCHEMA).fetchall())


@pytest.fixture(params=_RELEASES, ids=lambda path: path.stem)
def released(request: pytest.FixtureRequest, empty_database: str) -> str:
    """The DSN of a database as a released version has left it."""
    with psycopg.connect(empty_database) as conn:
        conn.execute(request.param.read_bytes())
    return empty_database


def test_an_upgraded_database_has_the_schema_of_a_new_one(released: str, dsn: str) -> None:
    migrate(released)

    assert _schema(released) == _schema(dsn)


async def test_what_was_stored_before_an_upgrade_is_found_after_it(released: str) -> None:
    migrate(released)

    async with await AsyncConnection.connect(released, autocommit=True) as conn:
        await begin_session(conn)
        await register_vector_async(conn)
        application_id = await applications.default_id(conn)
        page = await source_lists.page(
            conn, application_id=application_id, where=SourceFilter(), limit=10, before=None
        )
        [job] = await claim(conn, 10)
        found = await _chunks_near_the_first(conn, application_id)

    assert {(source.type, source.status) for source in page.rows} == {
        ("file", "completed"),
        ("file", "pending"),
        ("site", "pending"),
    }
    assert job.knowledge_source_id in {source.id for source in page.rows}
    assert sorted(found) == ["the fox runs", "the owl sleeps"]


async def _chunks_near_the_first(conn: Connection, application_id: UUID) -> list[str]:
    cursor = await conn.execute(
        "select model_id, embedding from rag.embeddings order by chunk_id limit 1"
    )
    [(model_id, vector)] = await cursor.fetchall()
    vector = np.asarray(vector.to_numpy() if hasattr(vector, "to_numpy") else vector, np.float32)
    space = Space(id=model_id, dimension=len(vector))
    ids = await nearest(conn, SearchScope(application_id=application_id), space, vector)
    return await texts(conn, ids)
