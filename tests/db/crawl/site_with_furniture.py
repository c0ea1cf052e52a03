"""A site whose pages share a menu and a foot, and what is stored of it."""

from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

from ingest.handlers.documents.chunk_settings import chunking_defaults
from ingest.postgres.database import transaction
from ingest.store.crawl.runs import StartedRun
from ingest.store.documents import chunking
from ingest.store.documents.chunking import ChunkingOverrides
from ingest.store.tenants import applications
from tests.servers.web_server import Answer, response
from tests.support.crawl.crawl_fixtures import SiteHouse

MENU = ("Fairway", "Tide tables", "Berths")
LEGAL = "The harbour office answers for none of the times that are printed on these pages."


def own_text(number: int) -> str:
    word = f"pier{chr(ord('a') + number % 26)}{chr(ord('a') + number // 26)}"
    return f"Here lies {word}, which was built by hand and is used by the boats of {word} alone."


def page(*paragraphs: str, links: Iterable[str] = (), legal: str = LEGAL) -> Answer:
    """A page with a menu above its content, and a legal note and a date below it."""
    menu = "".join(f'<p><a href="/">{name}</a></p>' for name in MENU)
    content = "".join(f"<p>{text}</p>" for text in paragraphs)
    more = "".join(f'<a href="{link}">.</a>' for link in links)
    body = f"<body>{menu}{content}<p>{more}</p><p>{legal}</p><p>Printed in May 2026</p></body>"
    return response(f"<html>{body}</html>".encode(), headers={"Content-Type": "text/html"})


def site(count: int, content: Callable[[int], Iterable[str]] | None = None) -> dict[str, Answer]:
    """`count` pages, the first of which links to the others."""
    texts = content or (lambda number: (own_text(number),))
    links = [f"/{number}" for number in range(1, count)]
    others = {f"/{number}": page(*texts(number)) for number in range(1, count)}
    return {"/": page(*texts(0), links=links), **others}


async def chunks_with(house: SiteHouse, run: StartedRun, text: str) -> list[str]:
    """Paths of the pages that have this text in a chunk."""
    rows = await house.rows(
        "select distinct uri from rag.chunks join rag.documents as document"
        " on document.id = document_id where document.source_id = %s and content like %s",
        run.source_id,
        f"%{text}%",
    )
    return sorted(house.path(row["uri"]) for row in rows)


async def set_leave_out(
    house: SiteHouse, application_id: UUID, run: StartedRun, *, value: bool
) -> None:
    async with transaction(house.pool) as conn:
        await applications.lock_sources(conn, application_id)
        await chunking.set_for_sources(
            conn,
            application_id=application_id,
            source_ids=[run.source_id],
            own=ChunkingOverrides(leave_out_furniture=value),
            application=ChunkingOverrides(),
            defaults=chunking_defaults(house.context),
        )


async def stored(house: SiteHouse, run: StartedRun, column: str = "text") -> dict[str, Any]:
    rows = await house.rows("select * from rag.documents where source_id = %s", run.source_id)
    return {house.path(row["uri"]): row[column] for row in rows}
