"""What a page says to crawlers: links, canonical address, robots rules."""

import io

import pytest

from ingest.formats.registry import extract
from ingest.model import WebPage
from tests.builders import make_files

URL = "https://example.org/docs/page?x=1"


def web(body: str, *, head: str = "", url: str = URL) -> WebPage:
    page = make_files.html(f"<p>Words of the page.</p>{body}", head=head)
    found = extract(io.BytesIO(page), name="page.html", url=url).web
    assert found is not None
    return found


def links(body: str, *, head: str = "") -> list[str]:
    return list(web(body, head=head).links)


def test_html_without_url_has_no_crawler_information() -> None:
    assert extract(io.BytesIO(make_files.html("<p>Words.</p>")), name="page.html").web is None


def test_non_html_file_has_no_crawler_information() -> None:
    assert extract(io.BytesIO(b"Words."), name="a.txt", url="https://example.org/a.txt").web is None


def test_links_are_absolute_in_order_and_each_comes_once() -> None:
    body = (
        "<a href='b'>b</a> <a href='/a'>a</a> <a href='?page=2'>2</a> <a href='b#part'>b</a>"
        "<map><area href='https://other.example'></map> <a href='HTTPS://example.org/docs/b'>b</a>"
    )

    assert links(body) == [
        "https://example.org/docs/b",
        "https://example.org/a",
        "https://example.org/docs/page?page=2",
        "https://other.example/",
    ]


def test_links_are_ready_to_be_requested() -> None:
    assert links("<a href=' /gr\u00f6\u00dfe a?q=\u00e4&amp;utm_source=x '>a</a>") == [
        "https://example.org/gr%C3%B6%C3%9Fe%20a?q=%C3%A4"
    ]


def test_a_base_element_moves_the_links_not_the_page() -> None:
    head = "<base target='_top'><base href='/other/'><base href='/second/'>"

    assert links("<a href='a'>a</a>", head=head) == ["https://example.org/other/a"]


@pytest.mark.parametrize("base", ["javascript:alert(1)", "http://[", "", "mailto:x"])
def test_base_element_without_valid_url_is_ignored(base: str) -> None:
    assert links("<a href='a'>a</a>", head=f"<base href='{base}'>") == [
        "https://example.org/docs/a"
    ]


@pytest.mark.parametrize(
    "reference",
    ["mailto:a@b.example", "javascript:void(0)", "JavaScript:x", "data:text/html,x", "tel:112",
     "ftp://example.org/", "http://", "http://user:secret@example.org/",
     "http://example.org/" + "a" * 2048, "http://[::1"],
)  # fmt: skip
def test_non_page_references_are_not_links(reference: str) -> None:
    assert links(f"<a href='{reference}'>x</a>") == []


@pytest.mark.parametrize("rel", ["nofollow", "noopener NOFOLLOW", "ugc,nofollow"])
def test_links_that_robots_shall_not_follow_are_left_out(rel: str) -> None:
    assert links(f"<a rel='{rel}' href='/a'>a</a><a rel='next' href='/b'>b</a>") == [
        "https://example.org/b"
    ]


def test_links_of_navigation_and_hidden_menus_and_frames_count() -> None:
    body = (
        "<nav><a href='/nav'>n</a></nav><div style='display:none'><a href='/menu'>m</a></div>"
        "<noscript><a href='/plain'>p</a></noscript>"
    )

    assert links(body) == [f"https://example.org/{name}" for name in ("nav", "menu", "plain")]
    frames = b"<html><frameset><frame src='/frame'></frameset><noframes>Words.</noframes></html>"
    found = extract(io.BytesIO(frames), name="page.html", url=URL).web
    assert found is not None
    assert found.links == ("https://example.org/frame",)


def test_links_are_counted_and_bounded() -> None:
    body = "".join(f"<a href='/{number}'>x</a>" for number in range(5100))

    found = web(body)

    assert len(found.links) == 5000
    assert found.links[-1] == "https://example.org/4999"
    assert found.is_cut


def test_a_page_with_as_many_links_as_are_kept_has_no_more_of_them() -> None:
    body = "".join(f"<a href='/{number}'>x</a>" for number in range(5000)) + "<a href='/0'>x</a>"

    found = web(body)

    assert len(found.links) == 5000
    assert not found.is_cut


def test_links_beyond_the_scan_limit_count_as_missing() -> None:
    body = "<a href='mailto:x'>x</a>" * 50_000 + "<a href='/a'>a</a>"

    found = web(body)

    assert found.links == ()
    assert found.is_cut


@pytest.mark.parametrize(
    ("head", "canonical"),
    [
        ("<link rel=canonical href='/a'>", "https://example.org/a"),
        ("<link rel='Canonical' href='HTTPS://EXAMPLE.org/a#x'>", "https://example.org/a"),
        ("<link rel=canonical href='/a'><link rel=canonical href='/a'>", "https://example.org/a"),
        ("<link rel=canonical href='/a'><link rel=canonical href='/b'>", None),
        ("<link rel=canonical href='javascript:x'>", None),
        ("<link rel=canonical href=''>", None),
        ("<link rel=alternate href='/a'>", None),
        ("", None),
    ],
)
def test_the_canonical_address_counts_if_there_is_exactly_one(
    head: str, canonical: str | None
) -> None:
    assert web("", head=head).canonical == canonical


@pytest.mark.parametrize(
    ("head", "index", "follow"),
    [
        ("", True, True),
        ("<meta name=robots content='noindex'>", False, True),
        ("<meta name=ROBOTS content='index, NoFollow'>", True, False),
        ("<meta name=robots content='noindex,nofollow'>", False, False),
        ("<meta name=robots content=none>", False, False),
        ("<meta name=rag-ingest content=noindex>", False, True),
        ("<meta name=rag-ingest content=index><meta name=robots content=nofollow>", True, False),
        ("<meta name=googlebot content='noindex'>", True, True),
        ("<meta name=robots content='max-snippet:-1, all'><meta name=robots>", True, True),
        ("<meta property=robots>", True, True),
    ],
)
def test_robots_rules_of_the_page_are_read(head: str, index: bool, follow: bool) -> None:
    found = web("", head=head)

    assert (found.index, found.follow) == (index, follow)


@pytest.mark.parametrize(
    "markup",
    [
        "<a href='/a'>" * 3000 + "deep",
        "<a href='/a'><b>" + "<div>" * 5000 + "deep",
        "words<a href=/a>unfinished<a",
        "words<a href='/a'>x</a><p>\x00</p>",
    ],
)
def test_links_of_broken_and_deep_pages_are_found(markup: str) -> None:
    found = extract(io.BytesIO(f"<html><body>words {markup}".encode()), name="p.html", url=URL).web

    assert found is not None
    assert found.links == ("https://example.org/a",)
