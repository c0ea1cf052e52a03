"""Sitemaps are read by a parser process: hostile ones end there, and soon."""

import gzip
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from harness.patience import AGES
from ingest.errors import Permanent
from ingest.model import Sitemap
from ingest.sandbox.messages import SitemapRequest
from ingest.sandbox.pool import ParserPool

BASE = "https://example.org/sitemap.xml"
ENTITIES = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
BILLION_LAUGHS = (
    f'<?xml version="1.0"?><!DOCTYPE u [<!ENTITY e0 "ha">{ENTITIES}]>'
    "<urlset><url><loc>https://example.org/&e9;</loc></url>"
    "<url><loc>https://example.org/a</loc></url></urlset>"
).encode()


@pytest.fixture
async def parser_pool() -> AsyncIterator[ParserPool]:
    parser_pool = ParserPool(size=1, timeout=AGES, memory=1024 * 1024 * 1024)
    yield parser_pool
    await parser_pool.close()


async def read(parser_pool: ParserPool, folder: Path, data: bytes) -> Sitemap:
    path = folder / "sitemap"
    path.write_bytes(data)
    return await parser_pool.read_sitemap(path, SitemapRequest(base=BASE, limit=100))


async def test_a_sitemap_is_read(parser_pool: ParserPool, tmp_path: Path) -> None:
    data = b"<urlset><url><loc>/a?b=1&amp;c=2</loc></url></urlset>"

    assert await read(parser_pool, tmp_path, data) == Sitemap(
        pages=("https://example.org/a?b=1&c=2",)
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: BILLION_LAUGHS,
        lambda: b"<urlset>" + b"<url>" * 1_000_000 + b"<loc>https://example.org/a</loc>",
        lambda: gzip.compress(b"<urlset>" + bytes(300 * 1024 * 1024), 1),
        lambda: b"<urlset>" + b"<url><loc>x</loc></url>" * 2_200_000,
        lambda: b"\xff\xfe" + bytes(10_000),
    ],
    ids=["billion laughs", "deep", "gzip bomb", "50 MB", "nul"],
)
async def test_a_hostile_sitemap_lists_little_or_fails_with_a_parser_code(
    parser_pool: ParserPool, tmp_path: Path, make: Callable[[], bytes]
) -> None:
    try:
        found, code = await read(parser_pool, tmp_path, make()), None
    except Permanent as error:
        found, code = Sitemap(), error.code

    assert code in (None, "parser_memory", "parser_timeout", "parser_crashed")
    assert len(found.pages) <= 100
    assert all(len(page) < 3000 for page in found.pages)
    assert (await read(parser_pool, tmp_path, b"https://example.org/next\n")).pages


def test_a_worker_does_not_load_the_parsers_of_markup() -> None:
    code = (
        "import sys, ingest.runtime; from ingest.handlers.registry import load_handlers;"
        "load_handlers(); print([m for m in ('lxml', 'html_to_markdown') if m in sys.modules])"
    )

    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
