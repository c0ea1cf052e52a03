"""Pages are drawn and searched in a parser process: hostile files end there."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from harness.patience import AGES, PATIENCE
from ingest.errors import Permanent
from ingest.formats import media_types
from ingest.model import ChunkSettings
from ingest.sandbox.messages import LocateRequest, ParseRequest, RenderRequest
from ingest.sandbox.pool import ParserPool
from tests.builders.make_pdf import Sheet, at, document
from tests.support.movable_clock import MovableClock
from tests.unit.sandbox.hostile_files import until

# Each form draws the one before ten times.
_NESTED = [
    b"<< /Type /XObject /Subtype /Form /BBox [0 0 600 800]"
    b" /Resources << /XObject << /X %d 0 R >> >>"
    b" /Length %d >>\nstream\n%b\nendstream" % (10 + level, len(content), content)
    for level, content in enumerate([b"0 0 600 800 re f", *[b"/X Do " * 10] * 9], start=0)
]


@pytest.fixture
async def parser_pool() -> AsyncIterator[ParserPool]:
    parser_pool = ParserPool(size=1, timeout=AGES, memory=1024 * 1024 * 1024)
    yield parser_pool
    await parser_pool.close()


def request(width: int = 300) -> RenderRequest:
    return RenderRequest(media_type=media_types.PDF, page=1, width=width)


async def test_a_page_is_drawn_and_its_text_found(parser_pool: ParserPool, tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(document(at(60, 600, "Words on a page")))

    drawn = await parser_pool.render(path, request())
    found = await parser_pool.locate(
        path,
        LocateRequest(
            media_type=media_types.PDF, page=1, text="Words on a page", ranges=((0, 15), (9, 15))
        ),
    )

    assert (drawn.width, drawn.height) == (300, 400)
    assert drawn.png.startswith(b"\x89PNG")
    [[whole], [part]] = found.places
    assert whole[0] == pytest.approx(0.1, abs=0.01)
    assert whole[0] < part[0] < part[2] == whole[2]


async def test_a_compressed_file_is_read_and_drawn(parser_pool: ParserPool, tmp_path: Path) -> None:
    path = tmp_path / "a.pdf.gz"
    path.write_bytes(gzip.compress(document(at(60, 600, "Words on a page"))))
    chunks = ChunkSettings(tokenizer="minilm", size=64, overlap=8)

    parsed = await parser_pool.parse(
        path, ParseRequest(name="a.pdf.gz", declared=None, max_pages=9, chunk=chunks)
    )

    assert (parsed.document.media_type, parsed.document.text) == (
        "application/pdf",
        "Words on a page",
    )
    assert (await parser_pool.render(path, request())).width == 300


async def test_a_page_that_takes_for_ever_ends_its_process_only(
    parser_pool: ParserPool, tmp_path: Path, movable_clock: MovableClock
) -> None:
    hostile, good = tmp_path / "hostile.pdf", tmp_path / "good.pdf"
    resources = b"/Resources << /XObject << /X 20 0 R >> >>"
    hostile.write_bytes(document(Sheet(content=b"/X Do " * 10, entries=resources), extra=_NESTED))
    good.write_bytes(document(at(60, 600, "good")))

    assert (await parser_pool.render(good, request())).width == 300  # its process is running
    drawing = asyncio.create_task(parser_pool.render(hostile, request(2000)))
    await until(lambda: bool(parser_pool._busy))
    await asyncio.sleep(0.2)  # so that it draws
    movable_clock.forward(PATIENCE)
    with pytest.raises(Permanent) as caught:
        await drawing

    assert caught.value.code in ("parser_timeout", "parser_memory", "parser_crashed")
    assert (await parser_pool.render(good, request())).width == 300
