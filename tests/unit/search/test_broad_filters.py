"""A filter that lets much pass is remembered for a while, for its application only."""

from dataclasses import replace
from uuid import uuid4

import pytest

from ingest.filters.parse import parse
from ingest.search import broad_filters
from ingest.search.broad_filters import BroadFilters
from ingest.store.search.scope import SearchScope


def test_equal_filters_of_an_application_share_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    scope = SearchScope(
        application_id=uuid4(), metadata={"a": [1], "b": 2}, filter=parse({"uri": {"in": ["x"]}})
    )
    known = BroadFilters()
    known.note(scope)

    assert known.has(replace(scope, metadata={"b": 2, "a": [1]}, is_hasty=True))
    assert not known.has(replace(scope, application_id=uuid4()))
    assert not known.has(replace(scope, metadata=None))
    assert not known.has(replace(scope, visible_in=[]))
    assert not known.has(replace(scope, filter=parse({"uri": {"in": ["y"]}})))
    monkeypatch.setattr(broad_filters, "_KEPT_SECONDS", 0.0)
    assert not known.has(scope)


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broad_filters, "_MOST", 2)
    scopes = [SearchScope(application_id=uuid4(), metadata={}) for _ in range(3)]
    known = BroadFilters()
    for scope in scopes:
        known.note(scope)

    assert [known.has(scope) for scope in scopes] == [False, False, True]
