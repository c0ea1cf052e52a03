"""A page as text: what a server answered, or a provider sent, becomes something to compare."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ingest.errors import Permanent
from ingest.handlers.context import Context, Progress
from ingest.handlers.crawl.fetch_page import Answer, fetch_page, refuse_status
from ingest.handlers.documents.chunk_settings import chunk_settings
from ingest.model import MOST_LINKS, ChunkSettings, WebPage
from ingest.observability import metrics
from ingest.sandbox.messages import Parsed, ParseRequest
from ingest.store.crawl.crawl_pages import PageForJob, StoredPage
from ingest.store.documents.documents import FromWeb, text_hash
from ingest.store.queue.jobs import ClaimedJob
from ingest.web import urls
from ingest.web.robots_tag import RobotsTag, read_tag
from ingest.web.scope import Scope

_LONGEST_VALIDATOR: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPage:
    """One page, ready to be compared with what is stored of it."""

    uri: str
    """Normalised address of where the answer came from in the end."""
    found_at: str
    """Where the answer came from in the end, as it was requested."""
    http_status: int | None
    content_hash: bytes
    parsed: Parsed | None
    """None: the stored version still stands."""
    chunking: ChunkSettings | None = None
    """How it was cut, if it was parsed."""
    seen: FromWeb
    canonical: str | None = None
    may_index: bool = True
    links_cut: bool = False
    """The page has more links than `seen` holds."""


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

    `scope` as for fetch_page(). Raises what that raises, and Permanent with the parsers' codes.
    """
    # Before the fetch: a site is not to be asked again and again for what cannot be embedded.
    await ctx.embedder.ready()
    progress.stage = "extract"
    if stored is not None and stored.embedding_model_id != ctx.model_id:
        stored = None  # the text may be the same, but it needs vectors of another model
    async with fetch_page(job, page, stored, ctx, scope=scope) as answer:
        refuse_status(answer.fetched)
        progress.reached(10)
        uri = _identity(answer, scope)
        if stored is not None and _is_same(page, stored, answer, uri):
            return _unchanged(stored, answer, uri)
        if not answer.is_unchanged:
            cut_by = await chunk_settings(page.source_id, ctx)
            parsed = await parse(
                answer.path, answer.fetched.url, ctx, progress, answer=answer, cut_by=cut_by
            )
            return _changed(answer, parsed, cut_by, uri)
    if stored is None:
        raise Permanent("the server answered 304 to a plain request", code="fetch_status")
    # It means another page, to which this one redirects now.
    return await read_page(job, page, None, ctx, progress, scope=scope)


def _identity(answer: Answer, scope: Scope | None) -> str:
    """What the page is known by: where the answer came from, as the crawl writes its site."""
    url = answer.fetched.url
    return urls.normalise(url if scope is None else scope.adopt(url))


def _is_same(page: PageForJob, stored: StoredPage, answer: Answer, uri: str) -> bool:
    """Whether the answer is what is stored under the page's own address."""
    if uri != page.uri:
        return False
    return answer.is_unchanged or answer.fetched.sha256 == stored.content_hash


async def parse(
    path: Path,
    url: str,
    ctx: Context,
    progress: Progress,
    *,
    answer: Answer | None,
    cut_by: ChunkSettings,
) -> Parsed:
    """Text and chunks of a page's body, by the sandbox; Permanent `empty_content` without any."""
    request = ParseRequest(
        name=urls.file_name(url),
        declared=answer.fetched.headers.get("content-type") if answer else "text/markdown",
        max_pages=ctx.max_pages,
        chunk=cut_by,
        url=url,
    )
    parsed = await ctx.parser.parse(path, request)
    metrics.document_read(parsed.document.warnings)
    progress.note_parsed(parsed)
    if not parsed.chunks:
        raise Permanent("the page has no text", code="empty_content")
    return parsed


def _unchanged(stored: StoredPage, answer: Answer, uri: str) -> ReadPage:
    tag = _tag(answer)  # it may have changed although the page has not
    return ReadPage(
        uri=uri,
        found_at=answer.fetched.url,
        http_status=answer.fetched.status,
        content_hash=stored.content_hash,
        parsed=None,
        seen=FromWeb(
            etag=_validator(answer, "etag") or stored.etag,
            last_modified=_validator(answer, "last-modified") or stored.last_modified,
            text_hash=stored.text_hash or b"",
            links=stored.links if tag.follow else (),
        ),
        may_index=tag.index,
        # Whether there were more is not stored.
        links_cut=tag.follow and len(stored.links) >= MOST_LINKS,
    )


def _changed(answer: Answer, parsed: Parsed, cut_by: ChunkSettings, uri: str) -> ReadPage:
    web = parsed.document.web or WebPage()
    tag = _tag(answer)
    follow = web.follow and tag.follow
    return ReadPage(
        uri=uri,
        found_at=answer.fetched.url,
        http_status=answer.fetched.status,
        content_hash=answer.fetched.sha256,
        parsed=parsed,
        chunking=cut_by,
        seen=FromWeb(
            etag=_validator(answer, "etag"),
            last_modified=_validator(answer, "last-modified"),
            text_hash=text_hash(parsed.document.text),
            links=web.links if follow else (),
            shape=_shape(uri),
        ),
        canonical=web.canonical,
        may_index=web.index and tag.index,
        links_cut=follow and web.is_cut,
    )


def _tag(answer: Answer) -> RobotsTag:
    return read_tag(answer.fetched.headers.get("x-robots-tag", ""))


def _shape(uri: str) -> str | None:
    shape = urls.shape(uri)
    return None if shape == uri else shape


def _validator(answer: Answer, name: str) -> str | None:
    """A header that is sent back at the next fetch; one that is odd is not worth it."""
    value = answer.fetched.headers.get(name)
    return value if value and len(value) <= _LONGEST_VALIDATOR and value.isprintable() else None
