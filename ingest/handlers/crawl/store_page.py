"""Decide what to store of a page that was read, from nothing to new chunks and vectors.

Decisions that depend on other pages of the run are made in the write, under the run's lock.
"""

from dataclasses import dataclass, replace
from typing import Final

from ingest.handlers.context import Context, Outcome, Progress
from ingest.handlers.crawl.link_discovery import Found, add_found, scope_of, sort_links
from ingest.handlers.crawl.read_page import ReadPage
from ingest.handlers.documents.chunk_settings import rechunk_if_moved
from ingest.handlers.documents.embed_chunks import EmbeddedChunks, embed_chunks
from ingest.handlers.documents.new_document import new_document
from ingest.postgres.database import Connection
from ingest.store.crawl import crawl_pages, crawls, frontier, site_documents
from ingest.store.crawl.crawl_pages import KnownPage, PageForJob, PageResult, StoredPage
from ingest.store.crawl.crawls import Crawl, LockedCrawl
from ingest.store.crawl.frontier import SeenPage
from ingest.store.documents import documents
from ingest.store.documents.documents import NewDocument
from ingest.store.queue.jobs import ClaimedJob
from ingest.web import urls

# A page that had this much text and has lost most of it shows a login, or an error with status 200.
_HAD_TEXT: Final = 100  # characters
_COLLAPSED: Final = 0.2


@dataclass(slots=True, kw_only=True)
class _Work:
    """State of one page between reading and storing."""

    job: ClaimedJob
    crawl: Crawl
    page: PageForJob
    stored: StoredPage | None
    read: ReadPage
    ctx: Context
    canonical: str | None = None
    """Canonical address that the page declares, if it differs and is in scope."""
    found: Found
    new: NewDocument | None = None
    """What to store; None when the stored version stays."""
    vectors: EmbeddedChunks | None = None
    is_collapsed: bool = False
    freed: int = 0
    """Places to free within the page limit."""

    @property
    def model_id(self) -> int:
        return self.ctx.model_id


async def page_outcome(
    job: ClaimedJob,
    crawl: Crawl,
    page: PageForJob,
    read: ReadPage,
    stored: StoredPage | None,
    ctx: Context,
    progress: Progress,
) -> Outcome:
    """Embed the page if necessary; return its write. `stored`: the version of `read.uri`."""
    work = _Work(
        job=job,
        crawl=crawl,
        page=page,
        stored=stored,
        read=read,
        ctx=ctx,
        found=Found(),
    )
    if read.may_index and read.parsed is not None:
        await _prepare(work, progress)
    if crawl.source_type == "site" and crawl.provider == "builtin":
        await _look_around(work)
    progress.stage = "store"
    progress.reached(95)

    async def write(conn: Connection) -> None:
        await _write(conn, work)

    return Outcome(
        write=write,
        result={"uri": read.uri, "httpStatus": read.http_status},
        embedding_config={
            "provider": ctx.model.provider,
            "model": ctx.model.name,
            "dimension": ctx.model.dimension,
        }
        if work.vectors is not None
        else None,
    )


async def _look_around(work: _Work) -> None:
    """Collect the links and the canonical address that are in the scope of this crawl."""
    links = list(work.read.seen.links)
    if work.is_collapsed and work.stored is not None:
        links += work.stored.links  # otherwise pages behind a login would look removed
    depth, home = work.page.depth, work.read.found_at
    work.found = await sort_links(links, work.crawl, work.ctx, depth=depth + 1, found_at=home)
    if work.read.links_cut:
        work.found.skipped["unread"] += 1
    if work.read.canonical is None:
        return
    scope = scope_of(work.crawl)
    address = scope.adopt(work.read.canonical)
    uri = urls.normalise(address)
    if uri == work.read.uri or scope.refusal(address, depth=depth) is not None:
        return
    work.canonical = uri
    proper = await sort_links([address], work.crawl, work.ctx, depth=depth, found_at=home)
    work.found.pages = [*proper.pages, *work.found.pages]


async def _prepare(work: _Work, progress: Progress) -> None:
    """Decide whether the page has new content; if so, embed it."""
    read, stored, parsed = work.read, work.stored, work.read.parsed
    assert parsed is not None  # noqa: S101 the caller has checked
    assert read.chunking is not None  # noqa: S101 set together with `parsed`
    if stored is not None:
        same_model = stored.embedding_model_id == work.model_id
        if same_model and stored.text_hash == read.seen.text_hash:
            return
        length = len(parsed.document.text)
        work.is_collapsed = (
            not work.crawl.settings.accept_losses
            and stored.text_length >= _HAD_TEXT
            and length < stored.text_length * _COLLAPSED
        )
        if work.is_collapsed:
            return
    with progress.entered("embed", at=40) as details:
        vectors = await embed_chunks(parsed.chunks, work.ctx, progress)
        details |= {"chunks": len(parsed.chunks), "reused": vectors.reused}
    work.vectors = vectors
    work.new = new_document(
        source_id=work.crawl.source_id,
        application_id=work.crawl.application_id,
        uri=read.uri,
        content_hash=read.content_hash,
        parsed=parsed,
        vectors=vectors,
        model_id=work.model_id,
        chunking=read.chunking,
        web=read.seen,
    )


# ---------------------------------------------------------------- the write


async def _write(conn: Connection, work: _Work) -> None:
    crawl = work.crawl
    locked = await crawls.lock(conn, crawl.id, source_id=crawl.source_id, job_id=work.job.id)
    result = await _result(conn, work)
    result = replace(result, http_status=work.read.http_status, canonical=work.canonical)
    await crawl_pages.finish(conn, work.page.id, result)
    await add_found(conn, work.job, crawl, work.found, locked=locked, freed=work.freed)
    if work.vectors is not None and work.vectors.is_cached:
        await documents.drop_cached(
            conn,
            application_id=crawl.application_id,
            model_id=work.model_id,
            hashes=work.vectors.hashes,
        )
    await count_again(conn, crawl, locked)


async def count_again(conn: Connection, crawl: Crawl, locked: LockedCrawl) -> None:
    """Recount a run that has already ended, after one of its pages was retried."""
    if locked.status not in crawls.OPEN:
        await site_documents.recount(conn, source_id=crawl.source_id, crawl_id=crawl.id)
        await crawls.write_digest(conn, crawl.id)


async def _result(conn: Connection, work: _Work) -> PageResult:
    """Compare the page with other pages of the run, then store, skip or mark it a duplicate."""
    duplicate_of = await _other_name(conn, work)
    if duplicate_of is not None:
        work.freed += 1
        return PageResult(status="duplicate", duplicate_of=duplicate_of)
    if not work.read.may_index:
        work.freed += 1
        return PageResult(
            status="skipped", error_code="noindex", error_message="the page asks not to be indexed"
        )
    twin = await _twin(conn, work)
    if twin is not None and not _wins(work, twin):
        work.freed += 1
        return PageResult(status="duplicate", duplicate_of=twin.uri)
    result = await _store(conn, work)
    if twin is not None:
        work.freed += 1
        if twin.status == "new":
            await _remove(conn, work, twin.uri)
        # A twin from before this run is removed only at the run's end, with the pages that are
        # gone: many pages with the same text may be a site under maintenance.
        await crawl_pages.mark_duplicate(conn, twin.id, duplicate_of=work.read.uri)
    return result


async def _other_name(conn: Connection, work: _Work) -> str | None:
    """Canonical URL if this page is an alias; None if it is not."""
    page, uri = work.page, work.read.uri
    if uri != page.uri:
        other = await crawl_pages.find_by_uri(conn, page.crawl_id, uri)
        if other is not None and other.id != page.id:
            return uri
        # The run has no page for the redirect target yet: this page takes its address.
        await crawl_pages.rename(conn, page.id, uri)
        alias = SeenPage(uri=page.uri, status="duplicate", duplicate_of=uri)
        await frontier.add_seen(conn, page.crawl_id, page.source_id, [alias])
    if page.stands_alone or work.canonical is None:
        return None
    if urls.path_shape(work.canonical) == urls.path_shape(uri):
        # Only the query differs (sort order, session id); the page itself calls it irrelevant.
        return work.canonical
    return None


async def _twin(conn: Connection, work: _Work) -> KnownPage | None:
    """Another page of this run with identical text."""
    if work.crawl.source_type != "site" or work.is_collapsed or not work.read.seen.text_hash:
        return None
    return await crawl_pages.find_same_text(conn, work.page, work.read.seen.text_hash)


def _wins(work: _Work, twin: KnownPage) -> bool:
    """Whether this page is kept and not its twin. Does not depend on the order of arrival."""
    if work.canonical == twin.uri:
        return False
    if twin.canonical == work.read.uri:
        return True
    uri = work.read.uri
    return (len(uri), uri) < (len(twin.uri), twin.uri)


async def _store(conn: Connection, work: _Work) -> PageResult:
    read, stored = work.read, work.stored
    if work.new is None:
        assert stored is not None  # noqa: S101 without a stored version there is a new one
        if work.is_collapsed:
            await site_documents.flag_collapsed(conn, stored.id)
        else:
            await site_documents.seen_unchanged(
                conn, stored.id, content_hash=read.content_hash, seen=read.seen
            )
        return PageResult(
            status="kept" if work.is_collapsed else "unchanged",
            document_id=stored.id,
            content_hash=read.content_hash,
            chunk_count=stored.chunk_count,
            tokens_saved=stored.token_count,
        )
    assert work.vectors is not None  # noqa: S101 set together with `new`
    before = await site_documents.counts(conn, work.crawl.source_id, read.uri)
    ids = await documents.replace(conn, [work.new])
    tokens = sum(chunk.token_count for chunk in work.new.chunks)
    await rechunk_if_moved(
        conn,
        application_id=work.crawl.application_id,
        source_id=work.crawl.source_id,
        used=work.new.chunking,
        ctx=work.ctx,
    )
    await site_documents.add_counts(
        conn,
        work.crawl.source_id,
        chunks=len(work.new.chunks) - before[0],
        tokens=tokens - before[1],
        model_id=work.model_id,
    )
    return PageResult(
        status="new" if stored is None else "changed",
        document_id=ids[work.crawl.source_id, read.uri],
        content_hash=read.content_hash,
        chunk_count=len(work.new.chunks),
        tokens_spent=work.vectors.tokens_spent,
        tokens_saved=tokens - work.vectors.tokens_spent,
    )


async def _remove(conn: Connection, work: _Work, uri: str) -> None:
    """Remove the document of an address whose text is searchable under another address."""
    source_id = work.crawl.source_id
    stored = await crawl_pages.stored_page(conn, source_id, uri)
    if stored is None:
        return
    chunks, tokens = await site_documents.counts(conn, source_id, uri)
    await site_documents.remove(conn, [stored.id])
    await site_documents.add_counts(
        conn, source_id, chunks=-chunks, tokens=-tokens, model_id=work.model_id
    )
