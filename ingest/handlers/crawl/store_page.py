"""What is to become of a page that was read: the ladder from "nothing to do" to "embed it again".

Everything that depends on other pages of the run is decided in the write, under the run's lock.
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
from ingest.store.crawl.crawls import Crawl, Locked
from ingest.store.crawl.frontier import SeenPage
from ingest.store.documents import documents
from ingest.store.documents.documents import NewDocument
from ingest.store.queue.jobs import ClaimedJob
from ingest.web import urls

# A page that had this much text and has hardly any now shows a login, or an error with status 200.
_HAD_TEXT: Final = 100  # characters
_COLLAPSED: Final = 0.2


@dataclass(slots=True, kw_only=True)
class _Work:
    """One page on its way into the database."""

    job: ClaimedJob
    crawl: Crawl
    page: PageForJob
    stored: StoredPage | None
    read: ReadPage
    ctx: Context
    canonical: str | None = None
    """Another address of this site that the page says it should be known by."""
    found: Found
    new: NewDocument | None = None
    """What to store; None when the stored version stays."""
    vectors: EmbeddedChunks | None = None
    is_collapsed: bool = False
    freed: int = 0
    """Places within the limit that are given back."""

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
    """Embed what has to be, and say how the page is written. `stored`: of `read.uri`."""
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
    """Links and the canonical address, as far as they lead to pages of this crawl."""
    links = list(work.read.seen.links)
    if work.is_collapsed and work.stored is not None:
        links += work.stored.links  # else what is behind a login would look removed
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
    """Decide how much of the page is new, and embed that."""
    read, stored, parsed = work.read, work.stored, work.read.parsed
    assert parsed is not None  # noqa: S101 the caller has looked
    assert read.chunking is not None  # noqa: S101 known with `parsed`
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


async def count_again(conn: Connection, crawl: Crawl, locked: Locked) -> None:
    """Correct what the end of the run has counted, after a page that was tried again later."""
    if locked.status not in crawls.OPEN:
        await site_documents.recount(conn, source_id=crawl.source_id, crawl_id=crawl.id)
        await crawls.write_digest(conn, crawl.id)


async def _result(conn: Connection, work: _Work) -> PageResult:
    """Give the page its place among the others; what is stored changes accordingly."""
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
        # What was stored before this run goes at its end, with all that is no longer there: many
        # pages that show one text tonight may be a site under maintenance.
        await crawl_pages.demote(conn, twin.id, duplicate_of=work.read.uri)
    return result


async def _other_name(conn: Connection, work: _Work) -> str | None:
    """The address that this one only is another name of; None when it is a page of its own."""
    page, uri = work.page, work.read.uri
    if uri != page.uri:
        other = await crawl_pages.by_uri(conn, page.crawl_id, uri)
        if other is not None and other.id != page.id:
            return uri
        # Nobody has found the target yet: the page takes its name.
        await crawl_pages.rename(conn, page.id, uri)
        alias = SeenPage(uri=page.uri, status="duplicate", duplicate_of=uri)
        await frontier.add_seen(conn, page.crawl_id, page.source_id, [alias])
    if page.stands_alone or work.canonical is None:
        return None
    if urls.path_shape(work.canonical) == urls.path_shape(uri):
        # Only the query differs: sorting, paging by session, what the page itself calls noise.
        return work.canonical
    return None


async def _twin(conn: Connection, work: _Work) -> KnownPage | None:
    """Another page of this run with the very same text."""
    if work.crawl.source_type != "site" or work.is_collapsed or not work.read.seen.text_hash:
        return None
    return await crawl_pages.same_text(conn, work.page, work.read.seen.text_hash)


def _wins(work: _Work, twin: KnownPage) -> bool:
    """Which of two pages with one text is kept: the same one in whatever order they come."""
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
    assert work.vectors is not None  # noqa: S101 made together with the document
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
    """Remove the document of an address whose text is searchable under another one."""
    source_id = work.crawl.source_id
    stored = await crawl_pages.stored(conn, source_id, uri)
    if stored is None:
        return
    chunks, tokens = await site_documents.counts(conn, source_id, uri)
    await site_documents.remove(conn, [stored.id])
    await site_documents.add_counts(
        conn, source_id, chunks=-chunks, tokens=-tokens, model_id=work.model_id
    )
