"""An empty database; a stand-in of Firecrawl with one site, the root job of a run, the inbox."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from ingest.blobs.local import LocalBlobStore
from ingest.firecrawl_inbox import Inbox
from ingest.postgres.database import Connection, Pool
from ingest.providers.fetch.fetcher import Fetcher
from ingest.store.embeddings import embedding_models
from tests.servers.firecrawl_behaviour import SitePage
from tests.servers.firecrawl_server import KEY, FirecrawlServer, firecrawl_server
from tests.support.archive_fixtures import ArchiveHouse
from tests.support.crawl.firecrawl_runs import (
    SITE,
    Root,
    claim_root,
    firecrawl_context,
    make_inbox,
    start_run,
)
from tests.support.fake_embedder import FakeEmbedder
from tests.support.fetchers import fetcher
from tests.support.file_fixtures import House


@pytest.fixture
def empty_database(server: str) -> Iterator[str]:
    """The DSN of an empty database."""
    name = f"empty_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    yield make_conninfo(server, dbname=name)
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


@pytest.fixture
async def fetch() -> AsyncIterator[Fetcher]:
    async with fetcher() as fetch:
        yield fetch


@pytest.fixture
async def blobs(tmp_path: Path) -> AsyncIterator[LocalBlobStore]:
    store = LocalBlobStore(tmp_path / "blobs")
    yield store
    await store.close()


@pytest.fixture
def inbox(pool: Pool, blobs: LocalBlobStore) -> Inbox:
    return make_inbox(pool, blobs)


@pytest.fixture
def firecrawl() -> Iterator[FirecrawlServer]:
    with firecrawl_server() as server:
        server.sites[SITE] = {
            SITE: SitePage(markdown="# Home"),
            SITE + "a": SitePage(markdown="# A", title="Letter A"),
            SITE + "slow": SitePage(error="The scrape operation timed out"),
            SITE + "none": SitePage(markdown="# Not found", status=404),
            SITE + "secret": SitePage(blocked=True),
        }
        yield server


@pytest.fixture
async def root(
    conn: Connection,
    application_id: UUID,
    pool: Pool,
    blobs: LocalBlobStore,
    firecrawl: FirecrawlServer,
) -> AsyncIterator[Root]:
    run = await start_run(conn, application_id)
    async with firecrawl_context(pool, blobs, url=firecrawl.url, key=KEY) as ctx:
        yield Root(conn=conn, ctx=ctx, run=run, job=await claim_root(conn))


@pytest.fixture
async def archives(pool: Pool, tmp_path: Path) -> AsyncIterator[ArchiveHouse]:
    """Handlers of files and archives, with what they need."""
    blobs = LocalBlobStore(tmp_path / "blobs")
    async with pool.session() as conn, conn.transaction():
        model_id = await embedding_models.register(conn, FakeEmbedder().model)
    yield ArchiveHouse(House(pool, blobs, model_id))
    await blobs.close()
