"""What is not understood in a filter is refused, and named."""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.filters import globs
from ingest.filters.model import And, Compares, Field, IsIn, Not
from ingest.filters.parse import FilterRefused, parse, refuse_operators

YEAR = Field("metadata", "json", ("year",))


def refused(filter: Any) -> FilterRefused:
    with pytest.raises(FilterRefused) as error:
        parse(filter)
    return error.value


def test_members_of_an_object_must_all_hold() -> None:
    assert parse({"metadata.year": {"gte": 2024, "lt": 2026}, "metadata.draft": False}) == And(
        (
            Compares(YEAR, "gte", 2024),
            Compares(YEAR, "lt", 2026),
            IsIn(Field("metadata", "json", ("draft",)), (False,)),
        )
    )


def test_operators_may_have_a_dollar() -> None:
    assert parse({"$and": [{"metadata.year": {"$ne": 2025}}]}) == parse(
        {"and": [{"metadata.year": {"ne": 2025}}]}
    )


def test_ne_is_all_that_eq_leaves_out() -> None:
    assert parse({"metadata.year": {"ne": 1}}) == Not(IsIn(YEAR, (1,)))


def test_an_empty_filter_lets_all_pass() -> None:
    assert parse({}) is None


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("metadata.a.b", ("a", "b")),
        ('metadata."a.b"', ("a.b",)),
        ('metadata."a""b".c', ('a"b', "c")),
        ("document.größe x", ("größe x",)),
        ("metadata.$ref", ("$ref",)),
    ],
)
def test_paths_of_keys(name: str, path: Sequence[str]) -> None:
    found = parse({name: 1})

    assert isinstance(found, IsIn)
    assert found.field.path == path


@pytest.mark.parametrize(
    ("filter", "code", "named"),
    [
        ({"year": 2025}, "unknown_field", "year"),
        ({"metadata": {"year": 2025}}, "unknown_field", "metadata"),
        ({"URI": "x"}, "unknown_field", "URI"),
        ({"or": [{"not": {"yaer": {"gte": 1}}}]}, "unknown_field", "yaer"),
        ({"metadata.year": {"between": [1, 2]}}, "unknown_operator", "between"),
        ({"metadata.year": {"$regex": "x"}}, "unknown_operator", "$regex"),
        ({"metadata.year": {"GTE": 1}}, "unknown_operator", "GTE"),
        ({"$nor": [{"uri": "x"}]}, "unknown_operator", "$nor"),
    ],
)
def test_unknown_names_are_refused_by_name(filter: Any, code: str, named: str) -> None:
    error = refused(filter)

    assert error.code == code
    assert named in str(error)
    assert named in error.place


@pytest.mark.parametrize(
    "filter",
    [
        [],
        {"and": []},
        {"or": {"uri": "x"}},
        {"not": [{"uri": "x"}]},
        {"not": {}},
        {"and": [{}]},
        {"metadata.": 1},
        {"metadata.a..b": 1},
        {'metadata."a': 1},
        {".".join(["metadata", *"abcdefghi"]): 1},
        {"metadata." + "a" * 1000: 1},
        {"metadata.a": {}},
        {"metadata.a": None},
        {"metadata.a": [1, 2]},
        {"metadata.a": {"eq": {"b": 1}}},
        {"metadata.a": {"in": 1}},
        {"metadata.a": {"in": [[1]]}},
        {"metadata.a": {"gt": True}},
        {"metadata.a": {"prefix": 1}},
        {"metadata.a": {"glob": "*"}},
        {"metadata.a": {"exists": 1}},
        {"metadata.a": "x" * 4097},
        {"uri": 5},
        {"uri": {"gt": 5}},
        {"uri": {"glob": "*" + "a*" * 10}},
        {"createdAt": {"gte": "yesterday"}},
        {"createdAt": {"gte": "2025-02-30"}},
        {"createdAt": {"prefix": "2025"}},
        {"documentId": "x"},
        {"documentId": {"gt": "00000000-0000-0000-0000-000000000000"}},
        {"metadata.a": {"in": list(range(1001))}},
        {"and": [{"metadata.a": 1}] * 101},
        {"and": [{"metadata.a": {"in": list(range(600))}}, {"uri": {"nin": ["x"] * 600}}]},
    ],
)
def test_invalid_filters_are_refused(filter: Any) -> None:
    assert refused(filter).code == "invalid_filter"


def test_a_filter_has_at_most_eight_levels() -> None:
    nested: dict[str, Any] = {"uri": "x"}
    for _ in range(7):
        nested = {"not": nested}

    assert parse(nested) is not None
    assert "8 levels" in str(refused({"not": nested}))


@pytest.mark.parametrize(
    "metadata", [{"year": {"$gte": 2025}}, {"$or": []}, {"a": [{"b": {"$in": [1]}}]}]
)
def test_plain_metadata_refuses_what_looks_like_an_operator(metadata: dict[str, Any]) -> None:
    with pytest.raises(FilterRefused, match=r"\$(gte|or|in)") as error:
        refuse_operators(metadata)

    assert error.value.code == "unknown_operator"
    refuse_operators({"price": "5$", "a": {"gte": 1}})


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["and", "or", "not", "uri", "metadata.a", "gt", "$in"])
                | st.text(max_size=5),
                inner,
                max_size=3,
            )
        ),
    )
)
def test_any_json_is_a_filter_or_refused(value: Any) -> None:
    with suppress(FilterRefused):
        parse(value)


@pytest.mark.parametrize(
    ("glob", "matching", "other"),
    [
        ("docs/*.md", "docs/a.md", "docs/b/a.md"),
        ("docs/**", "docs/b/a.md", "other/docs/a"),
        ("**/*.md", "a.md", "a.mdx"),
        ("a?c", "abc", "a/c"),
        ("a[b]+(c).$", "a[b]+(c).$", "ab"),
    ],
)
def test_globs(glob: str, matching: str, other: str) -> None:
    regex = globs.to_regex(glob)

    assert re.fullmatch(regex, matching)
    assert not re.fullmatch(regex, other)
