"""The one rule by which a run may remove pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.store.crawl.crawl_pages import PageStatus
from ingest.web.crawl_completeness import PageCount, Presence, is_complete, presence_of

_PRESENCE: dict[PageStatus, Presence] = {
    "queued": "unknown",
    "over_limit": "unknown",
    "new": "seen",
    "changed": "seen",
    "unchanged": "seen",
    "kept": "seen",
    "duplicate": "seen",
    "gone": "gone",
    "skipped": "seen",
    "failed": "unknown",
    "held": "unknown",
    "removed": "gone",
}


@pytest.mark.parametrize(("status", "expected"), list(_PRESENCE.items()))
def test_each_page_status_counts_as_seen_gone_or_unknown(
    status: PageStatus, expected: Presence
) -> None:
    assert presence_of(PageCount(status=status, n=1)) == expected


@pytest.mark.parametrize(
    ("http_status", "expected"),
    [(404, "gone"), (410, "gone"), (403, "unknown"), (500, "unknown"), (None, "unknown")],
)
def test_failed_page_counts_as_gone_only_by_404_or_410(
    http_status: int | None, expected: Presence
) -> None:
    assert presence_of(PageCount(status="failed", n=1, http_status=http_status)) == expected


@given(
    counts=st.dictionaries(st.sampled_from([*_PRESENCE, "a state of tomorrow"]), st.integers(1, 3)),
    skipped=st.dictionaries(
        st.sampled_from(["limit", "unread", "not_scraped", "not_delivered"]), st.integers(0, 2)
    ),
    others=st.dictionaries(
        st.sampled_from(["off_site", "excluded", "trap", "too_deep"]), st.integers(0, 9)
    ),
)
def test_run_is_complete_if_every_page_was_seen_or_is_gone(
    counts: dict[str, int], skipped: dict[str, int], others: dict[str, int]
) -> None:
    pages = [PageCount(status=status, n=n) for status, n in counts.items()]

    unknown = [page for page in pages if presence_of(page) == "unknown"]
    expected = not unknown and not any(skipped.values())
    assert is_complete(pages, failures_hiding_nothing=0, skipped=skipped | others) is expected


def test_failed_page_without_unseen_links_leaves_the_run_complete() -> None:
    pages = [PageCount(status="new", n=5), PageCount(status="failed", n=2)]

    assert [is_complete(pages, failures_hiding_nothing=n, skipped={}) for n in (0, 1, 2)] == [
        False,
        False,
        True,
    ]
