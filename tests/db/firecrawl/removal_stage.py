"""Runs of a site of three pages, of which all is said that events and results can say."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

import httpx

from ingest.firecrawl_inbox import Inbox
from ingest.handlers.crawl.finish_crawl import finish_crawl
from ingest.handlers.firecrawl.run import ProviderEnd
from ingest.postgres.database import Connection, new_id
from ingest.providers.firecrawl.client import FirecrawlClient
from ingest.store.crawl import crawls
from ingest.store.queue import claims
from tests.servers.firecrawl_events import document, event
from tests.support.crawl.crawl_sources import add_document
from tests.support.crawl.firecrawl_answers import (
    PAGE,
    Polled,
    Said,
    element,
)
from tests.support.crawl.firecrawl_runs import Root, crawl_of, drain, post, start_run, told


@dataclass(kw_only=True)
class Stage:
    """Runs of sites of three pages, each with what is said of it."""

    conn: Connection
    inbox: Inbox
    root: Root
    application_id: UUID
    count: int = 0

    async def is_removed(
        self, said: Sequence[Said], polled: Polled, *, late: Sequence[Said] = (), eager: bool
    ) -> bool:
        """Whether the page in question is gone when all was said.

        `late`: said after the results were read. `eager`: the jobs of pages end at once.
        """
        self.count += 1
        site = f"https://shop-{self.count}.test/"
        root, conn = self.root, self.conn
        root.run = await start_run(conn, self.application_id, uri=site)
        source_id = root.run.source_id
        for path in ("", "other", "page"):
            await add_document(conn, self.application_id, source_id, site + path)
        await self._add_first_run(source_id, site)
        [root.job] = await claims.claim(
            conn, types=["site_crawl"], batch=1, worker=uuid4(), cursor=UUID(int=0)
        )
        crawl_id = str(uuid4())
        await crawls.record_start_sent(conn, root.run.crawl_id)
        await crawls.save_provider_id(conn, root.run.crawl_id, crawl_id)
        run = await told(conn, root.run)
        for one in said:
            await post(conn, _event(one, site, crawl_id, run))
            await drain(self.inbox)
            if eager:
                await self._end_pages()
        client = FirecrawlClient(
            base_url="https://firecrawl.test", api_key=None, transport=_answers(polled, site)
        )
        root.ask(client)
        end = await root.step()
        await client.close()
        assert isinstance(end, ProviderEnd)
        await self._end_pages()
        for one in late:
            await post(conn, _event(one, site, crawl_id, run))
            await drain(self.inbox)
        if end.error is None:
            await self._finish()
        await conn.execute(
            "update rag.processing_jobs set status = 'completed' where knowledge_source_id = %s",
            [source_id],
        )
        cursor = await conn.execute(
            "select uri from rag.documents where source_id = %s and deleted_at is null", [source_id]
        )
        left = {uri for (uri,) in await cursor.fetchall()}
        assert left >= {site, site + "other"}
        return site + "page" not in left

    async def _add_first_run(self, source_id: UUID, site: str) -> None:
        """An earlier run that read all three: none has failed from the beginning."""
        earlier = new_id()
        await self.conn.execute(
            "insert into rag.crawls (id, application_id, source_id, job_id, provider, status, "
            "is_complete, created_at) values (%s, %s, %s, %s, 'firecrawl', 'completed', true, "
            "now() - interval '1 day')",
            [earlier, self.application_id, source_id, new_id()],
        )
        for path in ("", "other", "page"):
            await self.conn.execute(
                "insert into rag.crawl_pages (id, crawl_id, source_id, uri, fetch_url, "
                "url_pattern, status) values (%s, %s, %s, %s, %s, %s, 'new')",
                [new_id(), earlier, source_id, *[site + path] * 3],
            )

    async def _end_pages(self) -> None:
        """As their jobs do it."""
        await self.conn.execute(
            "update rag.processing_jobs as job set status = case when page.error_code is null"
            " or page.http_status in (404, 410) then 'completed' else 'failed' end"
            " from rag.crawl_pages as page where page.job_id = job.id and page.crawl_id = %s"
            " and page.status = 'queued'",
            [self.root.run.crawl_id],
        )
        await self.conn.execute(
            "update rag.crawl_pages set status = case when error_code is null then 'unchanged'"
            " when http_status in (404, 410) then 'gone' else 'failed' end"
            " where crawl_id = %s and status = 'queued'",
            [self.root.run.crawl_id],
        )

    async def _finish(self) -> None:
        crawl = await crawl_of(self.conn, self.root.run)
        outcome = await finish_crawl(self.root.job, crawl, self.root.ctx, error=None)
        assert outcome.write is not None
        async with self.conn.transaction():
            await outcome.write(self.conn)


def _event(said: Said, site: str, crawl_id: str, run: dict[str, str]) -> bytes:
    data = [element(kind, site + "page") for kind in said.data]
    raw = event(f"crawl.{said.type}", id=crawl_id, data=data, error=said.error, run=run)
    if said.success is not None:
        value = f'"{said.success}"' if isinstance(said.success, str) else str(said.success)
        raw = raw.replace(b'"success":true', f'"success":{value}'.encode())
    return raw


def _answers(polled: Polled, site: str) -> httpx.MockTransport:
    documents = [document(site, "# Home"), document(site + "other", "# Other")]
    documents += [element(kind, site + "page") for kind in polled.documents]
    errors = [
        {**error, **({"url": site + "page"} if error.get("url") == PAGE else {})}
        for error in polled.errors
    ]

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/errors"):
            return httpx.Response(200, json={"errors": errors, "robotsBlocked": []})
        skip, limit = (
            int(request.url.params.get(name, n)) for name, n in (("skip", 0), ("limit", 1))
        )
        completed = len(documents) + polled.hidden
        said = {
            "success": True,
            "status": polled.status,
            "completed": completed,
            "total": completed + polled.waiting,
            "data": documents[skip : skip + limit],
            **polled.counts,
        }
        if skip + limit < len(documents):
            said["next"] = f"https://elsewhere.test/v2/crawl/x?skip={skip + limit}"
        return httpx.Response(200, json=said)

    return httpx.MockTransport(answer)


def may_be_removed(said: Sequence[Said], polled: Polled) -> bool:
    """What the words allow: all was looked at, and the page is gone or nothing leads to it.

    A page that is gone by one word and failed by another is gone.
    """
    if not polled.is_whole or any(one.spoils for one in said):
        return False
    words: list[Said | Polled] = [*said, polled]
    if any(word.clears for word in words):
        return False
    return any(word.is_gone for word in words) or not any(word.names for word in words)
