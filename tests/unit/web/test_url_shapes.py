"""Addresses that share a shape, and what an address says of its file."""

import pytest

from ingest.web.urls import (
    file_name,
    normalise,
    url_pattern,
    without_query,
)


def test_pages_that_differ_by_their_query_share_a_shape() -> None:
    assert without_query("http://example.org/cal/?m=1") == without_query(
        "http://EXAMPLE.org/cal?m=2#x"
    )
    assert without_query("http://example.org/cal?m=1") == "http://example.org/cal"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://a.example/cal?m=1", "http://a.example/cal"),
        ("http://a.example/diary/2026/01/31", "http://a.example/diary/#/#/#"),
        ("http://a.example/diary/2026/01/31/", "http://a.example/diary/#/#/#"),
        ("http://a.example/2026/01?page=2", "http://a.example/#/#"),
        ("http://a.example/2026/01/31/what-happened", None),
        ("http://a.example/posts/12345", None),
        ("http://a.example/items/1234567/1234567", None),
        ("http://a.example/2026/01/31.html", None),
    ],
)
def test_generated_pages_share_a_shape_and_written_ones_do_not(
    url: str, expected: str | None
) -> None:
    assert url_pattern(url) == (expected or normalise(url))


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://example.org", "page"),
        ("http://example.org/docs/", "page"),
        ("http://example.org/a/report%202024.pdf?x=/y.doc", "report 2024.pdf"),
        ("http://example.org/gr%C3%B6%C3%9Fe.txt", "größe.txt"),
        ("http://example.org/a%2F..%2Fb.pdf", "b.pdf"),
        ("http://example.org/a%2F%2e%2e", "page"),
        ("http://example.org/%00", "page"),
        ("http://example.org/a%00b%ff.html", "ab\ufffd.html"),
    ],
)
def test_the_file_name_is_the_end_of_the_path(url: str, name: str) -> None:
    assert file_name(url) == name
