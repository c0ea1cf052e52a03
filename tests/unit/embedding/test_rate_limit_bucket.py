"""The bucket of a rate limit, in made-up time."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.token_bucket import take

# Seconds since the request before, and what it asks for.
_ASKED = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 1.0, 7.0, 61.0, 600.0]), st.integers(1, 60)),
    min_size=1,
    max_size=120,
)


def granted(limit: int, asked: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    """When each was granted, if everybody waits exactly as long as told and asks again."""
    left: float | None = None
    now = refilled = 0.0
    grants: list[tuple[float, int]] = []
    for pause, amount in asked:
        now += pause
        while True:
            after, wait = take(left, limit, amount, now - refilled)
            if not wait:
                break
            now += wait + 1e-6
        left, refilled = after, now
        grants.append((now, amount))
    return grants


@given(limit=st.integers(60, 400), asked=_ASKED)
def test_no_minute_gets_more_than_the_limit(limit: int, asked: Sequence[tuple[float, int]]) -> None:
    grants = granted(limit, asked)

    for begin, _ in grants:
        minute = sum(amount for at, amount in grants if begin <= at <= begin + 60)
        assert minute <= limit


@given(limit=st.integers(1, 30), count=st.integers(1, 100))
def test_single_requests_keep_to_small_limits_too(limit: int, count: int) -> None:
    grants = granted(limit, [(0.0, 1)] * count)

    for begin, _ in grants:
        assert sum(begin <= at <= begin + 60 for at, _ in grants) <= limit


@pytest.mark.parametrize("limit", [1, 10, 500, 1_000_000])
def test_a_steady_stream_gets_nearly_the_limit(limit: int) -> None:
    grants = granted(limit, [(0.0, max(1, limit // 100))] * 1000)

    minutes = grants[-1][0] / 60
    assert sum(amount for _, amount in grants) / minutes > 0.85 * limit


def test_a_request_larger_than_a_minute_gets_through_alone() -> None:
    [first, second] = granted(100, [(0.0, 250), (0.0, 1)])

    assert first[0] == 0
    assert second[0] > 120  # its debt


def test_nothing_is_held_without_a_limit() -> None:
    assert take(None, None, 10**9, 0.0) == (None, 0.0)


def test_request_of_zero_tokens_never_waits() -> None:
    assert take(-50.0, 100, 0, 0.0)[1] == 0.0
