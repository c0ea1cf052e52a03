"""Read a page that a provider has fetched, ready to be compared and stored."""

import asyncio
import hashlib
from dataclasses import replace

from ingest import storable_text
from ingest.handlers.context import Context, Progress
from ingest.handlers.crawl.read_page import ReadPage, parse
from ingest.handlers.documents.chunk_settings import chunk_settings
from ingest.handlers.firecrawl.pages import fetched_page
from ingest.model import ChunkSettings, Document
from ingest.providers.firecrawl.events import CrawledPage
from ingest.sandbox.messages import Parsed
from ingest.store.crawl.crawl_pages import PageForJob, StoredPage
from ingest.store.documents.documents import FromWeb, text_hash
from ingest.temporary_folders import scratch_folder
from ingest.web.furniture import whole_text
from ingest.web.placeholders import judge, markdown_signals


async def read_provider_page(
    page: PageForJob, stored: StoredPage | None, ctx: Context, progress: Progress
) -> ReadPage:
    """Read the page from the inbox; raises Permanent with the code of the provider's failure."""
    progress.stage = "extract"
    crawled = await fetched_page(page, ctx)
    markdown = crawled.markdown.encode()
    digest = hashlib.sha256(markdown).digest()
    is_same = (
        stored is not None
        and stored.content_hash == digest
        and stored.embedding_model_id == ctx.model_id
    )
    chunking = await chunk_settings(page.source_id, ctx)
    signals = None if is_same else markdown_signals(crawled.markdown, crawled.title)
    parsed = (
        None
        if is_same
        else (await _parsed(crawled, markdown, ctx, progress, uri=page.uri, chunking=chunking))
    )
    return ReadPage(
        uri=page.uri,
        found_at=crawled.url,
        http_status=crawled.status_code,
        content_hash=digest,
        parsed=parsed,
        chunking=chunking,
        seen=FromWeb(
            text_hash=text_hash(whole_text(parsed.document))
            if parsed
            else (stored.text_hash if stored else b""),
            links=crawled.links,
        ),
        placeholder=judge(signals).placeholder if signals else None,
    )


async def _parsed(
    crawled: CrawledPage,
    markdown: bytes,
    ctx: Context,
    progress: Progress,
    *,
    uri: str,
    chunking: ChunkSettings,
) -> Parsed:
    await ctx.embedder.ready()
    async with scratch_folder() as folder:
        path = folder / "page.md"
        await asyncio.to_thread(path.write_bytes, markdown)
        parsed = await parse(
            path, crawled.url, ctx, progress, uri=uri, answer=None, chunking=chunking
        )
    return replace(parsed, document=_described(crawled, parsed.document))


def _described(crawled: CrawledPage, document: Document) -> Document:
    """Add title, language and description from the page's head, which is untrusted text."""
    head = {"language": crawled.language, "description": crawled.description}
    stated = storable_text.clean_json({key: value for key, value in head.items() if value})
    return replace(
        document,
        title=storable_text.clean_line(crawled.title or "") or document.title,
        metadata={**document.metadata, **stated},
    )
