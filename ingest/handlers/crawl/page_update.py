"""One page of a run between reading and storing: whether it is new, and where it links to."""

from dataclasses import dataclass
from itertools import repeat
from typing import Final

from ingest.analysis.subject import Subject
from ingest.handlers.context import Context, Progress
from ingest.handlers.crawl.link_discovery import SortedLinks, scope_of, sort_links
from ingest.handlers.crawl.read_page import ReadPage
from ingest.handlers.documents.embed_chunks import EmbeddedChunks, embed_chunks
from ingest.handlers.documents.new_document import new_document
from ingest.handlers.quota_room import require_room
from ingest.store.crawl.crawl_pages import PageForJob, StoredPage
from ingest.store.crawl.crawls import Crawl
from ingest.store.documents.documents import NewDocument
from ingest.store.queue.jobs import ClaimedJob
from ingest.web import urls
from ingest.web.furniture import whole_text

# A page that had this much text and has lost most of it shows something else.
_COLLAPSE_MIN_CHARACTERS: Final = 100  # characters
_COLLAPSE_SHARE: Final = 0.2


@dataclass(slots=True, kw_only=True)
class PageUpdate:
    """State of one page between reading and storing."""

    job: ClaimedJob
    crawl: Crawl
    page: PageForJob
    stored: StoredPage | None
    read: ReadPage
    ctx: Context
    canonical: str | None = None
    """Canonical address that the page declares, if it differs and is in scope."""
    found: SortedLinks
    new: NewDocument | None = None
    """What to store; None when the stored version stays."""
    vectors: EmbeddedChunks | None = None
    is_collapsed: bool = False
    """Most of the text is gone, or a placeholder replaces it: the stored version stays."""
    freed: int = 0
    """Places to free within the page limit."""

    @property
    def model_id(self) -> int:
        return self.ctx.model_id


async def collect_links(update: PageUpdate) -> None:
    """Collect the links and the canonical address that are in the scope of this crawl."""
    # Those of a "not found" page are the same on each, and relative ones never end.
    links = [] if update.read.placeholder == "soft_404" else list(update.read.seen.links)
    if update.is_collapsed and update.stored is not None:
        links += update.stored.links  # otherwise pages behind a login would look removed
    depth, home = update.page.depth, update.read.found_at
    update.found = await sort_links(links, update.crawl, update.ctx, depth=depth + 1, found_at=home)
    if update.read.links_cut:
        update.found.skipped["unread"] += 1
    if update.read.canonical is None or update.read.placeholder is not None:
        return
    scope = scope_of(update.crawl)
    address = scope.adopt(update.read.canonical)
    uri = urls.normalise(address)
    if uri == update.read.uri or scope.refusal(address, depth=depth) is not None:
        return
    update.canonical = uri
    canonical = await sort_links([address], update.crawl, update.ctx, depth=depth, found_at=home)
    update.found.pages = [*canonical.pages, *update.found.pages]


async def embed_if_changed(update: PageUpdate, progress: Progress) -> None:
    """Decide whether the page has new content; if so, embed it."""
    read, stored, parsed = update.read, update.stored, update.read.parsed
    assert parsed is not None  # noqa: S101 the caller has checked
    assert read.chunking is not None  # noqa: S101 set together with `parsed`
    if stored is not None:
        same_model = stored.embedding_model_id == update.model_id
        if same_model and stored.text_hash == read.seen.text_hash:
            return
        length = len(whole_text(parsed.document))
        update.is_collapsed = (
            not update.crawl.settings.accept_losses
            and stored.text_length >= _COLLAPSE_MIN_CHARACTERS
            and length < stored.text_length * _COLLAPSE_SHARE
        )
        if update.is_collapsed:
            return
    await require_room(update.ctx, update.crawl.application_id, text=parsed.document.text)
    with progress.run_stage("embed", at=40) as details:
        vectors = await embed_chunks(
            parsed.chunks, repeat(Subject.of(parsed.document, read.uri)), update.ctx, progress
        )
        details |= {"chunks": len(parsed.chunks), "reused": vectors.reused}
    update.vectors = vectors
    update.new = new_document(
        source_id=update.crawl.source_id,
        application_id=update.crawl.application_id,
        uri=read.uri,
        content_hash=read.content_hash,
        parsed=parsed,
        vectors=vectors,
        model_id=update.model_id,
        chunking=read.chunking,
        web=read.seen,
    )
