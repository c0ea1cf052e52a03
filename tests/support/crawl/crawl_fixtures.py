"""Runs of pages and sites, step by step: real database and sockets, a fake embedder, no worker.

Every job is claimed, attempted and committed as by a worker, but when the test asks for it. Delayed
jobs are made ready instead of waiting.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast
from uuid import UUID, uuid4

from psycopg.rows import dict_row

from ingest.blobs.base import BlobStore
from ingest.chunking.chunk import chunk
from ingest.embedding.service import EmbeddingService
from ingest.formats.registry import extract
from ingest.formats.xml.sitemap import read
from ingest.governor import Governor
from ingest.handlers.context import Context, Progress, Web
from ingest.handlers.crawl.soft_404_memory import Soft404Memory
from ingest.handlers.registry import load_handlers
from ingest.model import ChunkSettings, Document, Sitemap
from ingest.postgres.database import Pool, transaction
from ingest.providers.fetch.fetcher import Fetcher
from ingest.sandbox.messages import (
    Parsed,
    ParseRequest,
    Rechunked,
    RechunkRequest,
    SitemapRequest,
    Unpacked,
    UnpackRequest,
)
from ingest.store.crawl import runs
from ingest.store.crawl.runs import CrawlSettings, NewRun, StartedRun
from ingest.store.embeddings import embedding_models
from ingest.store.queue import claims, job_types
from ingest.store.queue.jobs import ClaimedJob
from ingest.tokens.tokenizers import load_tokenizer
from ingest.web import urls
from ingest.web.furniture import without_furniture
from ingest.worker.attempt import attempt
from ingest.worker.commit import Finished, commit
from tests.servers.web_server import Answer, WebServer, response, web_server
from tests.support.fake_embedder import FakeEmbedder


class InProcessParser:
    """Parses in the test's own process. Counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    async def parse(
        self,
        path: Path,
        request: ParseRequest,
        *,
        owner: UUID,
        on_page: Callable[[], None] | None = None,
    ) -> Parsed:
        self.calls += 1
        with path.open("rb") as file:  # the file is only a few bytes
            document = extract(
                file,
                name=request.name,
                declared=request.declared,
                max_pages=request.max_pages,
                url=request.url,
            )
        document = without_furniture(document, dict(request.chunk.furniture), request.uri)
        tokenizer = load_tokenizer(request.chunk.tokenizer)
        pieces = chunk(
            document, tokenizer=tokenizer, size=request.chunk.size, overlap=request.chunk.overlap
        )
        return Parsed(document=document, chunks=pieces, extract_seconds=0.0, chunk_seconds=0.0)

    async def unpack(self, path: Path, request: UnpackRequest, *, owner: UUID) -> Unpacked:
        raise NotImplementedError

    async def rechunk(self, text: str, request: RechunkRequest, *, owner: UUID) -> Rechunked:
        document = Document(
            text=text, media_type="text/markdown", extractor="", pages=request.pages
        )
        settings = request.chunk
        chunks = chunk(
            document,
            tokenizer=load_tokenizer(settings.tokenizer),
            size=settings.size,
            overlap=settings.overlap,
        )
        return Rechunked(chunks=chunks, language=None)

    async def read_sitemap(self, path: Path, request: SitemapRequest, *, owner: UUID) -> Sitemap:
        data = await asyncio.to_thread(path.read_bytes)
        return read(data, base=request.base, limit=request.limit)


def html(
    text: str, *links: str, title: str = "", head: str = "", headers: dict[str, str] | None = None
) -> bytes:
    """An HTTP response with an HTML page that contains this text and these links."""
    anchors = " ".join(f'<a href="{link}">more</a>' for link in links)
    body = (
        f"<html><head><title>{title}</title>{head}</head>"
        f"<body><main><p>{text}</p><p>{anchors}</p></main></body></html>"
    )
    return response(body.encode(), headers={"Content-Type": "text/html", **(headers or {})})


def five_pages() -> dict[str, Answer]:
    """A small site: a home page that links to four others."""
    return {
        "/": html("Home of the story.", "/a", "/b", "/c", "/d"),
        "/a": html("Page a."),
        "/b": html("Page b."),
        "/c": html("Page c."),
        "/d": html("Page d."),
    }


class SiteHouse:
    """A site on a local server, and the handlers that fetch it."""

    def __init__(self, pool: Pool, web: WebServer, fetcher: Fetcher, model_id: int) -> None:
        self.pool = pool
        self.web = web
        self.fetcher = fetcher
        self.model_id = model_id
        self.embedder = FakeEmbedder()
        self.governor = Governor(pool)
        self.parser = InProcessParser()
        self.soft_404_memory = Soft404Memory()
        self.removal_threshold = 0.3
        self.handlers = load_handlers()

    @property
    def context(self) -> Context:
        return Context(
            pool=self.pool,
            blobs=cast(BlobStore, None),  # pages have no blobs
            parser=self.parser,
            embedder=EmbeddingService(self.embedder, self.governor, linger=timedelta(0)),
            governor=self.governor,
            model=self.embedder.model,
            model_id=self.model_id,
            chunking=ChunkSettings(tokenizer="cl100k_base", size=100, overlap=0),
            max_pages=10,
            soft_404_memory=self.soft_404_memory,
            web=Web(
                fetcher=self.fetcher,
                user_agent="rag-ingest",
                fetch_timeout=timedelta(seconds=10),
                crawl_delay=timedelta(0),
                crawl_concurrency=4,
                removal_threshold=self.removal_threshold,
            ),
        )

    async def start(
        self,
        application_id: UUID,
        path: str = "/",
        *,
        type: str = "site",
        host: str = "127.0.0.1",
        **settings: Any,
    ) -> StartedRun:
        uri = urls.normalise(self.web.url(path, host=host))
        async with transaction(self.pool) as conn:
            return await runs.start(
                conn,
                NewRun(
                    application_id=application_id,
                    type="site" if type == "site" else "url",
                    uri=uri,
                    name=uri,
                    settings=CrawlSettings(**settings),
                ),
            )

    async def rescrape(self, application_id: UUID, source_id: UUID, **options: Any) -> StartedRun:
        async with transaction(self.pool) as conn:
            run = await runs.rescrape(
                conn, application_id=application_id, source_id=source_id, **options
            )
        assert run is not None
        return run

    async def again(
        self, application_id: UUID, source_id: UUID, **options: Any
    ) -> tuple[StartedRun, int, int]:
        """Run the source again; returns the run, and the number of embedder and parser calls."""
        calls, parsed = self.embedder.calls, self.parser.calls
        run = await self.rescrape(application_id, source_id, **options)
        await self.run_all()
        return run, self.embedder.calls - calls, self.parser.calls - parsed

    async def claim(self, batch: int = 1) -> list[ClaimedJob]:
        async with transaction(self.pool) as conn:
            types = [row.type for row in await job_types.all_types(conn)]
            return await claims.claim(
                conn, types=types, batch=batch, worker=uuid4(), cursor=UUID(int=0)
            )

    async def carry_out(self, job: ClaimedJob) -> Finished | None:
        finished = await self.try_out(job)
        if finished is not None:
            await commit(self.pool, [finished])
        return finished

    async def try_out(self, job: ClaimedJob) -> Finished | None:
        """Run the attempt without committing its outcome."""
        async with transaction(self.pool) as conn:
            types = {row.type: row for row in await job_types.all_types(conn)}
        return await attempt(
            job,
            types[job.type],
            handlers=self.handlers,
            context=self.context,
            progress=Progress(job),
        )

    async def run_all(self, *, most: int = 1000) -> None:
        """Run jobs until none is open; delayed jobs are made ready when no other job is left."""
        for _ in range(most):
            claimed = await self.claim()
            if claimed:
                await self.carry_out(claimed[0])
            elif not await self.make_due():
                return
        raise AssertionError("the jobs never end")

    async def make_due(self) -> bool:
        async with transaction(self.pool) as conn:
            done = await conn.execute(
                "update rag.processing_jobs set run_at = null where id = ("
                " select id from rag.processing_jobs where status = 'pending'"
                " order by run_at limit 1)"
            )
        return done.rowcount == 1

    async def source(self, run: StartedRun) -> dict[str, Any]:
        [row] = await self.rows("select * from rag.knowledge_sources where id = %s", run.source_id)
        return row

    async def crawl(self, run: StartedRun) -> dict[str, Any]:
        [row] = await self.rows("select * from rag.crawls where id = %s", run.crawl_id)
        return row

    async def pages(self, run: StartedRun) -> dict[str, dict[str, Any]]:
        """The pages of a run, by path."""
        rows = await self.rows("select * from rag.crawl_pages where crawl_id = %s", run.crawl_id)
        return {self.path(row["uri"]): row for row in rows}

    async def documents(self, run: StartedRun) -> set[str]:
        """Paths of the searchable documents."""
        rows = await self.rows(
            "select uri from rag.documents where source_id = %s and deleted_at is null",
            run.source_id,
        )
        return {self.path(row["uri"]) for row in rows}

    async def texts(self, run: StartedRun) -> set[str]:
        rows = await self.rows("select content from rag.chunks where source_id = %s", run.source_id)
        return {row["content"] for row in rows}

    def path(self, uri: str) -> str:
        return uri.removeprefix(self.web.url("/").rstrip("/")) or "/"

    async def rows(self, query: Any, *values: Any) -> list[dict[str, Any]]:
        async with self.pool.session() as conn, conn.cursor(row_factory=dict_row) as cur:
            await cur.execute(query, values)
            return await cur.fetchall()


async def _here(host: str, port: int) -> list[str]:
    """Resolve every name to this machine."""
    return ["127.0.0.1"]


@asynccontextmanager
async def site_house(pool: Pool, answers: Mapping[str, Answer]) -> AsyncIterator[SiteHouse]:
    """Serve a site with these answers by path; yields the fixture that fetches it."""
    async with web_server(dict(answers)) as web:
        fetcher = Fetcher(
            allow=("127.0.0.0/8",),
            user_agent="rag-ingest",
            timeout=timedelta(seconds=10),
            max_bytes=1024 * 1024,
            _resolve=_here,
        )
        async with pool.session() as conn, conn.transaction():
            model_id = await embedding_models.register(conn, FakeEmbedder().model)
        try:
            yield SiteHouse(pool, web, fetcher, model_id)
        finally:
            await fetcher.close()
