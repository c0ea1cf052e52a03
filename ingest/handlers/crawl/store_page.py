"""Decide what to store of a page that was read, from nothing to new chunks and vectors.

Decisions that depend on other pages of the run are made in the write, under the run's lock.
"""

from dataclasses import replace

from ingest.errors import Permanent
from ingest.handlers.context import Context, Outcome, Progress
from ingest.handlers.crawl.link_discovery import SortedLinks, add_to_frontier
from ingest.handlers.crawl.near_duplicates import near_duplicate
from ingest.handlers.crawl.page_update import PageUpdate, collect_links, embed_if_changed
from ingest.handlers.crawl.placeholder_pages import MESSAGES
from ingest.handlers.crawl.read_page import ReadPage
from ingest.handlers.documents.chunk_settings import rechunk_if_settings_changed
from ingest.postgres.database import Connection
from ingest.store.crawl import crawl_pages, crawls, frontier, site_documents
from ingest.store.crawl.crawl_pages import KnownPage, PageForJob, PageResult, StoredPage
from ingest.store.crawl.crawls import Crawl, LockedCrawl
from ingest.store.crawl.frontier import SeenPage
from ingest.store.documents import documents
from ingest.store.queue.jobs import ClaimedJob
from ingest.web import urls


async def page_outcome(
    job: ClaimedJob,
    crawl: Crawl,
    page: PageForJob,
    read: ReadPage,
    stored: StoredPage | None,
    ctx: Context,
    progress: Progress,
) -> Outcome:
    """Embed the page if necessary; return its write. `stored`: the version of `read.uri`.

    Raises Permanent if a single page is a placeholder and there is no version to keep.
    """
    update = PageUpdate(
        job=job,
        crawl=crawl,
        page=page,
        stored=stored,
        read=read,
        ctx=ctx,
        found=SortedLinks(),
    )
    if read.placeholder is not None:
        update.is_collapsed = stored is not None and not crawl.settings.accept_losses
        if not update.is_collapsed and crawl.source_type != "site":
            raise Permanent(MESSAGES[read.placeholder], code=read.placeholder)
    elif read.may_index and read.parsed is not None:
        await embed_if_changed(update, progress)
    if crawl.source_type == "site" and crawl.provider == "builtin":
        await collect_links(update)
    progress.stage = "store"
    progress.advance_to(95)

    async def write(conn: Connection) -> None:
        await _write(conn, update)

    return Outcome(
        write=write,
        result={"uri": read.uri, "httpStatus": read.http_status},
        embedding_config={
            "provider": ctx.model.provider,
            "model": ctx.model.name,
            "dimension": ctx.model.dimension,
        }
        if update.vectors is not None
        else None,
    )


# ---------------------------------------------------------------- the write


async def _write(conn: Connection, update: PageUpdate) -> None:
    crawl = update.crawl
    locked = await crawls.lock(conn, crawl.id, source_id=crawl.source_id, job_id=update.job.id)
    result = await _result(conn, update)
    result = replace(result, http_status=update.read.http_status, canonical=update.canonical)
    await crawl_pages.finish(conn, update.page.id, result)
    await add_to_frontier(
        conn, update.job, crawl, update.found, ctx=update.ctx, locked=locked, freed=update.freed
    )
    if update.vectors is not None and update.vectors.is_cached:
        await documents.drop_cached(
            conn,
            application_id=crawl.application_id,
            model_id=update.model_id,
            hashes=update.vectors.hashes,
        )
    await recount_ended_run(conn, crawl, locked)


async def recount_ended_run(conn: Connection, crawl: Crawl, locked: LockedCrawl) -> None:
    """Recount a run that has already ended, after one of its pages was retried."""
    if locked.status not in crawls.OPEN:
        await site_documents.recount(conn, source_id=crawl.source_id, crawl_id=crawl.id)
        await crawls.write_digest(conn, crawl.id)


async def _result(conn: Connection, update: PageUpdate) -> PageResult:
    """Compare the page with other pages of the run, then store, skip or mark it a duplicate."""
    placeholder = update.read.placeholder
    if placeholder is not None:
        result = PageResult(status="skipped")
        if update.is_collapsed:
            result = await _store(conn, update)
        update.freed += not update.is_collapsed
        return replace(result, error_code=placeholder, error_message=MESSAGES[placeholder])
    duplicate_of = await _canonical_of_alias(conn, update)
    if duplicate_of is not None:
        update.freed += 1
        return PageResult(status="duplicate", duplicate_of=duplicate_of)
    if not update.read.may_index:
        update.freed += 1
        return PageResult(
            status="skipped", error_code="noindex", error_message="the page asks not to be indexed"
        )
    twin = await _twin(conn, update)
    near = None if twin else await near_duplicate(conn, update)
    if near is not None:
        return near
    if twin is not None and not _is_preferred(update, twin):
        update.freed += 1
        return PageResult(status="duplicate", duplicate_of=twin.uri)
    result = await _store(conn, update)
    if twin is not None:
        update.freed += 1
        if twin.status == "new":
            await _remove(conn, update, twin.uri)
        # A twin from before this run is removed only at the run's end, with the pages that are
        # gone: many pages with the same text may be a site under maintenance.
        await crawl_pages.mark_duplicate(conn, twin.id, duplicate_of=update.read.uri)
    return result


async def _canonical_of_alias(conn: Connection, update: PageUpdate) -> str | None:
    """Canonical URL if this page is an alias; None if it is not."""
    page, uri = update.page, update.read.uri
    if uri != page.uri:
        other = await crawl_pages.find_by_uri(conn, page.crawl_id, uri)
        if other is not None and other.id != page.id:
            return uri
        # The run has no page for the redirect target yet, so this page takes the target's address.
        await crawl_pages.rename(conn, page.id, uri)
        alias = SeenPage(uri=page.uri, status="duplicate", duplicate_of=uri)
        await frontier.add_seen(conn, page.crawl_id, page.source_id, [alias])
    if page.ignores_canonical or update.canonical is None:
        return None
    if urls.without_query(update.canonical) == urls.without_query(uri):
        # Only the query differs (sort order, session id); the page itself calls it irrelevant.
        return update.canonical
    return None


async def _twin(conn: Connection, update: PageUpdate) -> KnownPage | None:
    """Another page of this run with identical text."""
    if update.crawl.source_type != "site" or update.is_collapsed or not update.read.seen.text_hash:
        return None
    return await crawl_pages.find_same_text(conn, update.page, update.read.seen.text_hash)


def _is_preferred(update: PageUpdate, twin: KnownPage) -> bool:
    """Whether this page is kept and not its twin. Does not depend on the order of arrival."""
    if update.canonical == twin.uri:
        return False
    if twin.canonical == update.read.uri:
        return True
    uri = update.read.uri
    return (len(uri), uri) < (len(twin.uri), twin.uri)


async def _store(conn: Connection, update: PageUpdate) -> PageResult:
    read, stored = update.read, update.stored
    if update.new is None:
        assert stored is not None  # noqa: S101 without a stored version there is a new one
        if update.is_collapsed:
            await site_documents.flag_collapsed(conn, stored.id)
        else:
            await site_documents.seen_unchanged(
                conn, stored.id, content_hash=read.content_hash, seen=read.seen
            )
        return PageResult(
            status="kept" if update.is_collapsed else "unchanged",
            document_id=stored.id,
            content_hash=read.content_hash,
            chunk_count=stored.chunk_count,
            tokens_saved=stored.token_count,
        )
    assert update.vectors is not None  # noqa: S101 set together with `new`
    before = await site_documents.counts(conn, update.crawl.source_id, read.uri)
    ids = await documents.replace(conn, [update.new])
    tokens = sum(chunk.token_count for chunk in update.new.chunks)
    await rechunk_if_settings_changed(
        conn,
        application_id=update.crawl.application_id,
        source_id=update.crawl.source_id,
        used=update.new.chunking,
        ctx=update.ctx,
    )
    await site_documents.add_counts(
        conn,
        update.crawl.source_id,
        chunks=len(update.new.chunks) - before[0],
        tokens=tokens - before[1],
        model_id=update.model_id,
    )
    return PageResult(
        status="new" if stored is None else "changed",
        document_id=ids[update.crawl.source_id, read.uri],
        content_hash=read.content_hash,
        chunk_count=len(update.new.chunks),
        tokens_spent=update.vectors.tokens_spent,
        tokens_saved=update.vectors.tokens_saved,
    )


async def _remove(conn: Connection, update: PageUpdate, uri: str) -> None:
    """Remove the document of an address whose text is searchable under another address."""
    source_id = update.crawl.source_id
    stored = await crawl_pages.stored_page(conn, source_id, uri)
    if stored is None:
        return
    chunks, tokens = await site_documents.counts(conn, source_id, uri)
    await site_documents.remove(conn, [stored.id])
    await site_documents.add_counts(
        conn, source_id, chunks=-chunks, tokens=-tokens, model_id=update.model_id
    )
