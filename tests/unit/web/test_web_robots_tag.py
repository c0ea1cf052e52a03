"""The header X-Robots-Tag."""

import pytest

from ingest.web.robots import read_tag


@pytest.mark.parametrize(
    ("value", "index", "follow"),
    [
        ("", True, True),
        ("noindex", False, True),
        ("NoIndex, NoFollow", False, False),
        ("none", False, False),
        ("noarchive, nosnippet", True, True),
        ("otherbot: noindex, nofollow", True, True),
        ("otherbot: noindex, rag-ingest: nofollow", True, False),
        ("rag-ingest: none", False, False),
        ("unavailable_after: 25 Jun 2030 15:00:00 PST, noindex", False, True),
        (" : , ,:", True, True),
    ],
)
def test_rules_for_all_and_for_ours_hold(value: str, index: bool, follow: bool) -> None:
    tag = read_tag(value)

    assert (tag.index, tag.follow) == (index, follow)
