"""Deliveries of Firecrawl that hold anything: their text can be stored."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.providers.firecrawl.events import (
    parse_document,
    parse_event,
)
from tests.servers.firecrawl_events import event, stub
from tests.unit.firecrawl.deliveries import ID, only_page, page_of, read


def test_hostile_text_becomes_storable_everywhere() -> None:
    raw = (
        rb'{"type":"crawl.page","id":"a\u0000b","webhookId":"w\ud800",'
        rb'"data":[{"markdown":"a\u0000b\ud83d\ude00c\ude00d\ud83d","links":["http://a.test/\u0000x"],'
        rb'"metadata":{"sourceURL":"http://a.test/\ud800","title":"t\u0000","language":"\udfffen",'
        rb'"description":"\ud83d\u0000d","scrapeId":"s\udfff"}}],'
        rb'"metadata":{"k\u0000":"v\ud800"}}'
    )

    found = parse_event(raw)

    page = only_page(found)
    assert page.markdown == "ab\U0001f600cd"
    assert (page.url, page.title, page.language) == ("http://a.test/", "t", "en")
    assert (page.description, page.scrape_id) == ("d", "s")
    assert page.links == ("http://a.test/x",)
    assert (found.provider_crawl_id, found.webhook_id, found.run) == ("ab", "w", {"k": "v"})


def test_an_error_in_storage_is_one_short_line() -> None:
    raw = event("crawl.page", id=ID, data=[stub("http://a.test")], error="a\0\n\tb " * 1000)

    error = only_page(parse_event(raw)).error

    assert error is not None
    assert error.startswith("a b a b")
    assert len(error) == 500


def test_only_web_addresses_are_links_each_once() -> None:
    page = page_of(
        {},
        links=[
            "https://shop.test/b",
            "mailto:x@shop.test",
            {"url": "HTTPS://shop.test/c"},
            "https://shop.test/b",
            "javascript:alert(1)",
            "/relative",
            "http://",
            None,
            7,
        ],
    )

    assert page.links == ("https://shop.test/b", "HTTPS://shop.test/c")


@pytest.mark.parametrize("links", [None, "https://shop.test/b", {}, 7])
def test_links_that_are_not_a_list_are_ignored(links: Any) -> None:
    assert page_of({}, links=links).links == ()


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        "text",
        7,
        [None, "x", 7, []],
        [{}],
        [{"metadata": None}],
        [stub("about:blank")],
    ],
)
def test_data_without_a_usable_page_is_ignored(data: Any) -> None:
    assert read(type="crawl.page", data=data).pages == ()


@pytest.mark.parametrize(
    "raw", [b"", b"null", b"[]", b'"text"', b"7", b"{", b"\xff\xfe", b"{}{}", b"[" * 100_000]
)
def test_body_that_is_not_a_json_object_is_a_value_error(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_event(raw)


def test_invalid_utf8_bytes_are_dropped_alone() -> None:
    raw = b'\xef\xbb\xbf{"type":"crawl.page","data":[{"markdown":"a\xffb",'
    raw += b'"metadata":{"sourceURL":"http://a.test"}}]}'

    assert only_page(parse_event(raw)).markdown == "a\ufffdb"


def test_firecrawl_document_without_url_is_ignored() -> None:
    assert parse_document({"markdown": "# Lost"}, success=True, error=None) is None


def test_adjacent_surrogate_halves_are_joined() -> None:
    data = {"markdown": "a\ud83d" + "\ude00b\ude00", "metadata": {"sourceURL": "http://a.test"}}

    page = parse_document(data, success=True, error=None)

    assert page is not None
    assert page.markdown == "a\U0001f600b"


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["url", "sourceURL", "title", "metadata", "content", "message"]), inner
        )
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(["success", "type", "id", "webhookId", "data", "error", "metadata"]),
        anything,
    )
)
def test_any_object_is_read_and_its_text_can_be_stored(body: dict[str, Any]) -> None:
    found = parse_event(json.dumps(body).encode())

    texts = [found.provider_crawl_id, found.webhook_id, *found.run, *found.run.values()]
    for page in found.pages:
        texts += [page.url, page.markdown, page.title, page.error, *page.links]
    assert not any("\0" in text for text in texts if text)
    assert all(text.encode() for text in texts if text)
