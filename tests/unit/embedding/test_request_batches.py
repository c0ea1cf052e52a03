import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.embedding.caller_state import group

counts = st.lists(st.integers(0, 50), max_size=60)


def test_requests_are_filled_in_order() -> None:
    groups = group([4, 4, 4, 1, 1, 1], max_items=3, max_tokens=8)

    assert groups == [range(2), range(2, 5), range(5, 6)]


def test_text_over_the_limit_gets_its_own_request() -> None:
    assert group([1, 99, 1], max_items=9, max_tokens=10) == [range(1), range(1, 2), range(2, 3)]


def test_no_texts_make_no_request() -> None:
    assert group([], max_items=1, max_tokens=1) == []


def test_zero_request_limit_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one"):
        group([1], max_items=0, max_tokens=1)


@given(counts, st.integers(1, 10), st.integers(1, 60))
def test_every_text_is_in_one_request_within_the_limits(
    token_counts: list[int], max_items: int, max_tokens: int
) -> None:
    groups = group(token_counts, max_items=max_items, max_tokens=max_tokens)

    assert [index for run in groups for index in run] == list(range(len(token_counts)))
    for run in groups:
        assert 0 < len(run) <= max_items
        assert len(run) == 1 or sum(token_counts[index] for index in run) <= max_tokens
