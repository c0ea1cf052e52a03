"""Sitemaps and feeds: every form of them becomes a list of addresses, hostile ones included."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.formats.xml.sitemap import read
from ingest.model import Sitemap

BASE = "https://example.org/sitemap.xml"
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset(*pages: str) -> bytes:
    entries = "".join(
        f"<url><loc>{page}</loc><lastmod>2026-01-01</lastmod></url>" for page in pages
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {NAMESPACE}>{entries}</urlset>'.encode()
    )


def pages(data: bytes) -> list[str]:
    return list(read(data, base=BASE).pages)


A, B = "https://example.org/a", "https://example.org/b"


def test_pages_come_in_order_and_each_once() -> None:
    assert pages(urlset(B, f"\n {A} ", B, f"{A}#x")) == [B, A]


def test_an_index_lists_sitemaps() -> None:
    data = f"<sitemapindex {NAMESPACE}><sitemap><loc>{A}</loc></sitemap></sitemapindex>".encode()

    assert read(data, base=BASE) == Sitemap(pages=(), sitemaps=(A,))


def test_a_packed_sitemap_is_recognised_by_its_bytes() -> None:
    assert pages(gzip.compress(urlset(A, B))) == [A, B]


def test_the_beginning_of_a_damaged_packed_sitemap_is_read() -> None:
    data = gzip.compress(urlset(*(f"{A}{number * 7919 % 10007}" for number in range(2000))))

    found = pages(data[: len(data) // 2])

    assert found[0] == f"{A}0"
    assert 100 < len(found) < 2000


def test_compressed_sitemap_bomb_is_cut() -> None:
    bomb = gzip.compress(urlset(A)[:-9] + b" " * 60_000_000 + urlset(B), compresslevel=1)

    assert pages(bomb) == [A]


def test_a_plain_list_is_read_by_lines() -> None:
    data = f"\ufeff{A}\r\n\r\n# note\n/relative\nftp://x/\n{B}\n{'x' * 20_000}\n".encode()

    assert pages(data) == [A, B]


@pytest.mark.parametrize(
    "feed",
    [
        f"<rss><channel><link>https://example.org/home</link><item><title>t</title><link>{A}</link>"
        f"</item><item><link>{B}</link></item></channel></rss>",
        "<feed xmlns='http://www.w3.org/2005/Atom'><link href='https://example.org/home'/>"
        f"<entry><link href='{A}'/><link rel='edit' href='https://example.org/e'/></entry>"
        f"<entry><link rel='alternate' href='{B}'></link></entry></feed>",
    ],
)
def test_feeds_are_read_by_their_entries(feed: str) -> None:
    assert pages(feed.encode()) == [A, B]


def test_image_and_hreflang_urls_are_not_pages() -> None:
    extra = (
        "</loc><image:image><image:loc>https://example.org/i.png</image:loc></image:image>"
        "<xhtml:link rel='alternate' href='https://example.org/de'/><loc>" + B
    )

    assert pages(urlset(A + extra)) == [A, B]


def test_relative_addresses_are_relative_to_the_sitemap_and_others_are_dropped() -> None:
    assert pages(urlset("/a", "mailto:x@example.org", "javascript:x", "", "http://[", B)) == [A, B]


@pytest.mark.parametrize(
    "written",
    ["?x=1&amp;copy=2", "?x=1&copy=2", "?x=1&#38;copy=2", "?x=1&#x26;copy=2",
     "<![CDATA[?x=1&copy=2]]>", "<![CDATA[?x=1&amp;copy=2]]>", "?x=1&amp;amp;copy=2"],
)  # fmt: skip
@pytest.mark.parametrize("error", ["", "<url><loc></lo></url>"])
def test_ampersands_survive_however_they_are_written(written: str, error: str) -> None:
    data = urlset(A + written).replace(b"<url>", error.encode() + b"<url>", 1)

    assert pages(data) == [f"{A}?x=1&copy=2"]


def test_broken_xml_gives_what_was_readable() -> None:
    assert pages(urlset(A, B)[:-30]) == [A, B]
    assert pages(urlset(A, B).replace(b"</url>", b"</ur\x01l>", 1)) == [A, B]
    assert pages(b"  \n" + urlset(A)) == [A]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_sitemap_byte_order_mark_sets_the_encoding(encoding: str) -> None:
    data = urlset(A).decode().replace("UTF-8", encoding.removesuffix("-sig")).encode(encoding)

    assert pages(data) == [A]


def test_sitemap_entities_are_not_expanded() -> None:
    bomb = "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10 if n else 'lol'}'>" for n in range(12))
    head = f"<!DOCTYPE x [<!ENTITY f SYSTEM 'file:///etc/passwd'>{bomb}]>"
    data = f"{head}<urlset><url><loc>{A}?&f;&e11;</loc></url><url><loc>{B}</loc></url></urlset>"

    assert pages(data.encode()) == [f"{A}?&f;&e11;", B]


def test_no_more_than_the_limit_is_listed() -> None:
    data = urlset(*(f"{A}{number}" for number in range(50)))

    assert len(read(data, base=BASE, limit=10).pages) == 10
    assert len(read(f"{A}\n{B}\n{A}2".encode(), base=BASE, limit=2).pages) == 2


def test_page_that_is_not_a_sitemap_lists_nothing() -> None:
    data = b"<!DOCTYPE html><html><head><link rel=x href='/a'></head><body><a href='/b'>x</body>"

    assert read(data, base=BASE) == Sitemap()


@pytest.mark.parametrize(
    "data",
    [
        urlset(A, B),
        urlset(A, B) + b"\n",
        gzip.compress(urlset(A, B)),
        f"{A}\n{B}".encode(),
        b"<rss><channel><item><link>https://example.org/a</link></item></channel></rss>",
        b"",
        b"<!DOCTYPE html><html><head><meta><link></head><body><br><p>Every address answers this.",
    ],
)
def test_fully_read_sitemap_is_not_marked_as_cut(data: bytes) -> None:
    assert not read(data, base=BASE, limit=2).is_cut


@pytest.mark.parametrize(
    "data",
    [
        urlset(A, B)[:-30],
        urlset(A, B)[:-1],
        gzip.compress(urlset(A, B))[:-12],
        gzip.compress(urlset(A) + b" " * 53_000_000, compresslevel=1),
        urlset(A, B, f"{A}3"),
        f"{A}\n{B}\n{A}3".encode(),
    ],
)
def test_partly_read_sitemap_is_marked_as_cut(data: bytes) -> None:
    assert read(data, base=BASE, limit=2).is_cut


PIECES = [b"<urlset>", b"<url>", b"</url>", b"<loc>", b"</loc>", b"https://a/", b"&", b"<", b"\0",
          b"<!DOCTYPE x [", b"]>", b"<![CDATA[", b"]]>", b"<?xml version='1.0' encoding='x'?>",
          b"</", b"<link ", b"<item>", b"<!--", b"\x1f\x8b", b"\xff\xfe"]  # fmt: skip


@given(st.one_of(st.binary(max_size=60), st.lists(st.sampled_from(PIECES)).map(b"".join)))
def test_any_sitemap_is_parsed(data: bytes) -> None:
    found = read(data, base=BASE)

    assert all(page.startswith(("http://", "https://")) for page in found.pages + found.sitemaps)


@given(st.binary(max_size=200))
def test_any_compressed_sitemap_is_parsed(data: bytes) -> None:
    assert isinstance(read(b"\x1f\x8b" + data, base=BASE), Sitemap)
