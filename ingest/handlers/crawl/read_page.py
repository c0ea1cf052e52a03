"""Fetch and extract a page, ready to be compared with its stored version."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ingest.errors import Permanent
from ingest.handlers.context import Context, Progress
from ingest.handlers.crawl.fetch_page import (
    PageResponse,
    RedirectOutOfScope,
    fetch_page,
    refuse_status,
)
from ingest.handlers.crawl.soft_404 import is_soft_404
from ingest.handlers.documents.chunk_settings import chunk_settings
from ingest.model import MOST_LINKS, ChunkSettings, Placeholder, WebPage
from ingest.observability import metrics
from ingest.sandbox.messages import Parsed, ParseRequest
from ingest.store.crawl.crawl_pages import PageForJob, StoredPage
from ingest.store.documents.documents import FromWeb, text_hash
from ingest.store.queue.jobs import ClaimedJob
from ingest.web import urls
from ingest.web.furniture import whole_text
from ingest.web.robots import RobotsTag, read_tag
from ingest.web.scope import Scope

_LONGEST_VALIDATOR: Final = 500
_MOST_REFRESHES: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPage:
    """One page, ready to be compared with its stored version."""

    uri: str
    """Normalised final address, after redirects."""
    found_at: str
    """Final address, after redirects, as requested."""
    http_status: int | None
    content_hash: bytes
    parsed: Parsed | None
    """None: the stored version is current."""
    chunking: ChunkSettings | None = None
    """Settings it was chunked with, if it was parsed."""
    seen: FromWeb
    canonical: str | None = None
    may_index: bool = True
    links_cut: bool = False
    """The page has more links than `seen` stores."""
    placeholder: Placeholder | None = None
    """The page has no content of its own; `uri` is the address that the run asked for."""


async def read_page(
    job: ClaimedJob,
    page: PageForJob,
    stored: StoredPage | None,
    ctx: Context,
    progress: Progress,
    *,
    scope: Scope | None,
) -> ReadPage:
    """Fetch a page and extract it, unless nothing has changed.

    A page that sends its readers on (`meta refresh`) counts as a redirect. `scope` as for
    fetch_page(). Raises the errors of fetch_page() and Permanent with parser codes.
    """
    visited = {urls.normalise(page.fetch_url)}
    read = await _read_page(job, page, stored, ctx, progress, scope=scope)
    while isinstance(read, str):
        if urls.normalise(read) in visited or len(visited) > _MOST_REFRESHES:
            raise Permanent("the page redirects in a loop or too often", code="redirect_loop")
        visited.add(urls.normalise(read))
        reason = None if scope is None else scope.refusal(read, depth=0)
        if reason is not None:
            raise RedirectOutOfScope(read, reason)
        target = replace(page, fetch_url=read)
        read = await _read_page(job, target, None, ctx, progress, scope=scope)
    if read.placeholder is None:
        return read
    # A login page has the address of the page that it guards, whatever its own is.
    return replace(read, uri=page.uri)


def login_elsewhere(page: PageForJob) -> ReadPage:
    """A page that redirects to a login on another host, which is not part of the crawl."""
    return ReadPage(
        uri=page.uri,
        found_at=page.fetch_url,
        http_status=None,
        content_hash=b"",
        parsed=None,
        seen=FromWeb(text_hash=b""),
        placeholder="login_page",
    )


async def _read_page(
    job: ClaimedJob,
    page: PageForJob,
    stored: StoredPage | None,
    ctx: Context,
    progress: Progress,
    *,
    scope: Scope | None,
) -> ReadPage | str:
    """The page, or the address where it sends its readers on."""
    # Before the fetch: do not request a page repeatedly while it cannot be embedded.
    await ctx.embedder.ready()
    progress.stage = "extract"
    if stored is not None and stored.embedding_model_id != ctx.model_id:
        stored = None  # even the same text needs vectors of the new model
    async with fetch_page(job, page, stored, ctx, scope=scope) as answer:
        refuse_status(answer.fetched)
        progress.advance_to(10)
        uri = _identity(answer, scope)
        if stored is not None and _is_same(page, stored, answer, uri):
            return _unchanged(stored, answer, uri)
        if not answer.is_unchanged:
            chunking = await chunk_settings(page.source_id, ctx)
            parsed = await parse(
                answer.path,
                answer.fetched.url,
                ctx,
                progress,
                uri=uri,
                answer=answer,
                chunking=chunking,
            )
            web = parsed.document.web or WebPage()
            read = _changed(answer, parsed, chunking, uri)
            if web.refresh or read.placeholder:
                return web.refresh or read
            is_missing = await is_soft_404(
                answer.fetched.url,
                parsed.document,
                ctx,
                owner=progress.job.application_id,
                is_asked_for=page.depth == 0,
                chunking=chunking,
            )
            return replace(read, placeholder="soft_404") if is_missing else read
    if stored is None:
        raise Permanent(
            "the server responded with HTTP 304 to an unconditional request", code="fetch_status"
        )
    # The 304 is for the redirect target; refetch without validators.
    return await _read_page(job, page, None, ctx, progress, scope=scope)


def _identity(answer: PageResponse, scope: Scope | None) -> str:
    """The page's key: its final address, with the crawl's own origin."""
    url = answer.fetched.url
    return urls.normalise(url if scope is None else scope.adopt(url))


def _is_same(page: PageForJob, stored: StoredPage, answer: PageResponse, uri: str) -> bool:
    """Whether the response equals the version stored under the page's own URL."""
    if uri != page.uri:
        return False
    return answer.is_unchanged or answer.fetched.sha256 == stored.content_hash


async def parse(
    path: Path,
    url: str,
    ctx: Context,
    progress: Progress,
    *,
    uri: str,
    answer: PageResponse | None,
    chunking: ChunkSettings,
) -> Parsed:
    """Parse a page's body in the sandbox; raises Permanent `empty_content` if it has no text.

    `url` is where it was fetched, `uri` its key.
    """
    request = ParseRequest(
        name=urls.file_name(url),
        declared=answer.fetched.headers.get("content-type") if answer else "text/markdown",
        max_pages=ctx.max_pages,
        chunk=chunking,
        uri=uri,
        url=url,
    )
    parsed = await ctx.parser.parse(path, request, owner=progress.job.application_id)
    metrics.document_read(parsed.document.warnings)
    progress.log_parsed(parsed)
    web = parsed.document.web or WebPage()
    if not (parsed.chunks or web.refresh or web.placeholder):
        raise Permanent("the page has no text", code="empty_content")
    return parsed


def _unchanged(stored: StoredPage, answer: PageResponse, uri: str) -> ReadPage:
    tag = _tag(answer)  # the header may change while the body does not
    return ReadPage(
        uri=uri,
        found_at=answer.fetched.url,
        http_status=answer.fetched.status,
        content_hash=stored.content_hash,
        parsed=None,
        seen=FromWeb(
            etag=_validator(answer, "etag") or stored.etag,
            last_modified=_validator(answer, "last-modified") or stored.last_modified,
            text_hash=stored.text_hash,
            links=stored.links if tag.follow else (),
        ),
        may_index=tag.index,
        # Whether links were cut off is not stored.
        links_cut=tag.follow and len(stored.links) >= MOST_LINKS,
    )


def _changed(answer: PageResponse, parsed: Parsed, chunking: ChunkSettings, uri: str) -> ReadPage:
    web = parsed.document.web or WebPage()
    tag = _tag(answer)
    follow = web.follow and tag.follow
    return ReadPage(
        uri=uri,
        found_at=answer.fetched.url,
        http_status=answer.fetched.status,
        content_hash=answer.fetched.sha256,
        parsed=parsed,
        chunking=chunking,
        seen=FromWeb(
            etag=_validator(answer, "etag"),
            last_modified=_validator(answer, "last-modified"),
            text_hash=text_hash(whole_text(parsed.document)),
            links=web.links if follow else (),
            url_pattern=_url_pattern(uri),
        ),
        canonical=web.canonical,
        may_index=web.index and tag.index,
        links_cut=follow and web.is_cut,
        placeholder=web.placeholder,
    )


def _tag(answer: PageResponse) -> RobotsTag:
    return read_tag(answer.fetched.headers.get("x-robots-tag", ""))


def _url_pattern(uri: str) -> str | None:
    url_pattern = urls.url_pattern(uri)
    return None if url_pattern == uri else url_pattern


def _validator(answer: PageResponse, name: str) -> str | None:
    """A header to send with the next conditional request; None if it is malformed or too long."""
    value = answer.fetched.headers.get(name)
    return value if value and len(value) <= _LONGEST_VALIDATOR and value.isprintable() else None
