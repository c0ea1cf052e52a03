"""Compares a page with what the site serves for an address that surely does not exist.

A page with the same text says nothing of its own, in whatever language: it is a "not found" page
that is sent with status 200.
"""

import hashlib
import posixpath
import re
from typing import Final
from urllib.parse import unquote
from uuid import UUID, uuid4

from ingest.errors import Permanent, Transient
from ingest.handlers.context import Context
from ingest.handlers.crawl.check_robots import robots_for
from ingest.model import ChunkSettings, Document
from ingest.sandbox.messages import ParseRequest
from ingest.temporary_folders import scratch_folder
from ingest.web import urls
from ingest.web.furniture import whole_text

_SHORT: Final = 600  # characters; "not found" pages say little
_LARGEST: Final = 1024 * 1024  # bytes
_NUMBERS: Final = re.compile(r"\d+")


async def is_soft_404(
    url: str,
    document: Document,
    ctx: Context,
    *,
    owner: UUID,
    is_asked_for: bool,
    chunking: ChunkSettings,
) -> bool:
    """Whether the page at `url` is what its site serves for any missing address of the folder.

    Never raises for lack of an answer. `owner`: the application. `is_asked_for`: a user named this
    address, so only a page that reads like "not found" is compared.
    """
    web = document.web
    if web is None or not document.text or len(whole_text(document)) > _SHORT:
        return False
    origin, path = urls.origin(url), urls.without_query(url).removeprefix(urls.origin(url))
    if path == "/" or (is_asked_for and not web.may_be_missing):
        return False
    folder, name = path.rsplit("/", 1)
    missing = f"{origin}{folder}/{uuid4().hex}{posixpath.splitext(name)[1]}"
    found = await ctx.soft_404_memory.fingerprint(
        origin, folder, lambda: _ask(missing, ctx, chunking, owner)
    )
    return found is not None and found == _fingerprint(url, document)


async def _ask(url: str, ctx: Context, chunking: ChunkSettings, owner: UUID) -> bytes | None:
    """Fetch a missing address; None if the server answers with an error, or not at all."""

    async def on_hop(target: str) -> None:
        if urls.origin(target) != urls.origin(url):
            raise Permanent("the missing page is on another host", code="fetch_blocked")

    try:
        if not (await robots_for(urls.origin(url), ctx)).allows(url):
            return None
        async with scratch_folder() as folder:
            path = folder / "body"
            fetched = await ctx.web.fetcher.get(url, into=path, max_bytes=_LARGEST, on_hop=on_hop)
            if fetched.status != 200:
                return None
            request = ParseRequest(
                name=urls.file_name(url),
                declared=fetched.headers.get("content-type"),
                max_pages=ctx.max_pages,
                chunk=chunking,
                url=fetched.url,
            )
            parsed = await ctx.parser.parse(path, request, owner=owner)
        return _fingerprint(url, parsed.document)
    except (Permanent, Transient):
        return None


def _fingerprint(url: str, document: Document) -> bytes:
    """A hash of the text without the address, which such pages quote, and without numbers."""
    text = whole_text(document)
    path = urls.without_query(url).removeprefix(urls.origin(url))
    name = path.rpartition("/")[2]
    for own in (url, path, unquote(path), name, unquote(name), posixpath.splitext(name)[0]):
        if len(own) > 1:
            text = text.replace(own, "")
    words = " ".join(_NUMBERS.sub("", text.casefold()).split())
    return hashlib.sha256(words.encode()).digest()
