"""A filter lets pass in the database what its rules say, and what it does not know is refused."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from psycopg import sql

from harness.patience import AGES
from ingest.filters.dates import instant
from ingest.filters.parse import parse
from ingest.postgres.database import Connection, Pool, new_id, transaction
from ingest.store.search import matching
from ingest.store.search.scope import SearchScope
from tests.support.filter_evaluator import passes

ROOMY: Final = settings(
    max_examples=200,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
_KEYS: Final = ("a", "b", "x.y", 'q"', "größe")
_STRINGS: Final = (
    st.sampled_from(
        ["", "a", "A", "ab", "é", "\U0001f600", "\uffff", "a'b\"c\\d%s{x}", "1", "true"]
    )
    | st.sampled_from(
        ["2024-02-29", "2025-01-01", "2025-01-01T00:00:00Z", "2025-01-01T01:00+01:00"]
    )
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)
)
_NUMBERS: Final = st.integers(-3, 3) | st.floats(allow_nan=False, allow_infinity=False)
_SCALARS: Final = _STRINGS | _NUMBERS | st.booleans()
_JSON: Final = st.recursive(
    _SCALARS | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=3)
    ),
    max_leaves=6,
)
_METADATA: Final = st.dictionaries(st.sampled_from(_KEYS), _JSON, max_size=4)
_DATES: Final = st.sampled_from(["2024-02-29", "2025-01-01", "2025-01-01T12:30:00.5+02:00"])
_PATHS: Final = st.sampled_from(["docs/a.md", "docs/b/c.md", "a.pdf", "d[o]cs/ä b.md", "docs\na"])
_TIMES: Final = st.builds(
    lambda hours: datetime(2024, 1, 1, tzinfo=UTC) + timedelta(hours=hours), st.integers(0, 9000)
)
_RECORDS: Final = st.fixed_dictionaries(
    {
        "metadata": _METADATA,
        "document": st.fixed_dictionaries(
            {}, optional={"date": _DATES | _JSON, "created": _DATES, "a": _JSON}
        ),
        "uri": _PATHS,
        "title": st.none() | _STRINGS,
        "mediaType": st.sampled_from(["text/html", "text/plain", "image/png"]),
        "language": st.sampled_from([None, "en", "de"]),
        "type": st.sampled_from(["file", "url", "site"]),
        "name": _STRINGS,
        "createdAt": _TIMES,
        "updatedAt": _TIMES,
    }
)


def _quoted(key: str) -> str:
    return key if set(key).isdisjoint('."') else '"' + key.replace('"', '""') + '"'


_JSON_FIELDS: Final = st.builds(
    lambda root, keys: ".".join([root, *map(_quoted, keys)]),
    st.sampled_from(["metadata", "document"]),
    st.lists(st.sampled_from([*_KEYS, "date"]), min_size=1, max_size=2),
)
_COMPARISONS: Final = ("gt", "gte", "lt", "lte")


def _operators(
    values: st.SearchStrategy[Any], comparable: st.SearchStrategy[Any], *texts: str
) -> st.SearchStrategy[dict[str, Any]]:
    lists = st.lists(values, max_size=3)
    optional: dict[str, st.SearchStrategy[Any]] = {
        "eq": values, "ne": values, "in": lists, "nin": lists, "exists": st.booleans()
    }  # fmt: skip
    optional |= dict.fromkeys(_COMPARISONS, comparable)
    optional |= dict.fromkeys(texts, _STRINGS | _PATHS)
    if "glob" in texts:
        optional["glob"] = st.sampled_from(["docs/*", "docs/**", "**/*.md", "*", "d[o]cs/?*", "**"])
    return st.dictionaries(
        st.sampled_from([f"{dollar}{name}" for name in optional for dollar in ("", "$")]),
        st.none(),
        min_size=1,
        max_size=2,
    ).flatmap(
        lambda chosen: st.fixed_dictionaries(
            {name: optional[name.removeprefix("$")] for name in chosen}
        )
    )


def _condition(
    fields: st.SearchStrategy[str], operators: st.SearchStrategy[Any]
) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda field, value: {field: value}, fields, operators)


_CONDITIONS: Final = (
    _condition(_JSON_FIELDS, _SCALARS)
    | _condition(_JSON_FIELDS, _operators(_SCALARS, _STRINGS | _NUMBERS, "prefix"))
    | _condition(
        st.sampled_from(["uri", "title", "mediaType", "language", "type", "name"]),
        _operators(
            _STRINGS | _PATHS, _STRINGS.filter(lambda text: not instant(text)), "prefix", "glob"
        ),
    )
    | _condition(
        st.sampled_from(["createdAt", "updatedAt", "publishedAt"]), _operators(_DATES, _DATES)
    )
)
_FILTERS: Final = st.recursive(
    _CONDITIONS,
    lambda inner: (
        st.builds(lambda name, parts: {name: parts}, st.sampled_from(["and", "or", "$or"]),
                  st.lists(inner, min_size=1, max_size=3))
        | st.builds(lambda part: {"not": part}, inner)
        | st.builds(lambda one, other: {**one, **other}, inner, inner)
    ),
    max_leaves=5,
)  # fmt: skip


async def _add(
    conn: Connection, application_id: UUID, records: Sequence[Mapping[str, Any]]
) -> list[UUID]:
    """A source with one document for each record; returns the ids of the documents."""
    ids = [new_id() for _ in records]
    rows = [
        {
            **record,
            "id": id,
            "application": application_id,
            "metadata": json.dumps(record["metadata"]),
            "document": json.dumps(record["document"]),
        }
        for id, record in zip(ids, records, strict=True)
    ]
    async with conn.cursor() as cur:
        await cur.executemany(
            "insert into rag.knowledge_sources (id, application_id, type, name, uri, metadata, "
            "created_at) values (%(id)s, %(application)s, %(type)s, %(name)s, %(id)s, "
            "%(metadata)s, %(createdAt)s)",
            rows,
        )
        await cur.executemany(
            "insert into rag.documents (id, application_id, source_id, uri, title, media_type, "
            "status, content_hash, text, extractor, coverage, metadata, chunk_count, token_count, "
            "chunking, embedding_model_id, updated_at, language) values (%(id)s, %(application)s, "
            "%(id)s, %(uri)s, %(title)s, %(mediaType)s, 'completed', '', '', '', '{}', "
            "%(document)s, 1, 1, '{}', 1, %(updatedAt)s, %(language)s)",
            rows,
        )
    return ids


async def _passing(conn: Connection, application_id: UUID, filter: Mapping[str, Any]) -> set[UUID]:
    scope = SearchScope(application_id=application_id, filter=parse(filter))
    found = await matching.narrowed(conn, scope, most_chunks=1000, statement_timeout=AGES)
    assert found.document_ids is not None
    return set(found.document_ids)


def _published(record: Mapping[str, Any]) -> datetime | None:
    for stated in (record["document"].get("date"), record["document"].get("created")):
        if isinstance(stated, str) and (time := instant(stated)):
            return time
    return None


@ROOMY
@given(records=st.lists(_RECORDS, min_size=1, max_size=6), filter=_FILTERS)
async def test_database_and_rules_agree_on_random_filters_of_random_documents(
    conn: Connection,
    application_id: UUID,
    records: list[dict[str, Any]],
    filter: dict[str, Any],
) -> None:
    async with conn.transaction(force_rollback=True):
        ids = await _add(conn, application_id, records)
        found = await _passing(conn, application_id, filter)

    complete = [{**record, "publishedAt": _published(record)} for record in records]
    expected = {id for id, record in zip(ids, complete, strict=True) if passes(filter, record)}
    assert found == expected


_ALMOST_DATES: Final = st.from_regex(
    r"[0-9]{4}-[01][0-9]-[0-3][0-9]([T ][0-2][0-9]:[0-6][0-9](:[0-6][0-9](\.[0-9]{1,7})?)?"
    r"(Z|[+-][01][0-9]:[0-6][0-9])?)?\n?",
    fullmatch=True,
)


@ROOMY
@given(text=_ALMOST_DATES | _STRINGS)
@example("2100-02-29")
@example("2000-02-29T00:00Z")
@example("0000-01-01")
async def test_database_and_python_read_the_same_dates(conn: Connection, text: str) -> None:
    cursor = await conn.execute(
        "select rag.instant(%s) = %s::timestamptz, rag.instant(%s) is null",
        [text, instant(text), text],
    )
    assert await cursor.fetchone() == ((None, True) if instant(text) is None else (True, False))


@pytest.mark.parametrize(
    ("filter", "index"),
    [
        ({"metadata.n": 5}, "knowledge_sources_metadata"),
        ({"metadata.tags": {"in": ["a", "b"]}}, "knowledge_sources_metadata"),
        ({"document.author": "Ada"}, "documents_metadata"),
        ({"uri": {"glob": "docs/**"}}, "documents_folder"),
        ({"uri": {"prefix": "docs/" * 40}}, "documents_folder"),
        ({"publishedAt": {"gte": "2026-01-01"}}, "documents_published"),
    ],
)
async def test_what_people_filter_by_is_indexed(
    pool: Pool, conn: Connection, application_id: UUID, filter: dict[str, Any], index: str
) -> None:
    await conn.execute(
        "insert into rag.knowledge_sources (id, application_id, type, name, uri, metadata) "
        "select gen_random_uuid(), %s, 'file', n, n, jsonb_build_object('n', n, 'tags', array[n]) "
        "from generate_series(1, 3000) as n",
        [application_id],
    )
    await conn.execute(
        "insert into rag.documents (id, application_id, source_id, uri, media_type, status, "
        "content_hash, text, extractor, coverage, metadata, chunk_count, token_count, chunking, "
        "embedding_model_id) select id, application_id, id, uri, 'text/plain', 'completed', '', "
        "'', '', '{}', jsonb_build_object('author', uri, 'date', '2020-01-01'), 1, 1, '{}', 1 "
        "from rag.knowledge_sources"
    )
    await conn.execute("analyze rag.knowledge_sources, rag.documents")
    scope = SearchScope(application_id=application_id, filter=parse(filter))
    statement, parameters = scope.fill_in(matching._SQL["documents"])
    async with transaction(pool) as asking:
        cursor = await asking.execute(
            sql.SQL("explain ") + statement, {**parameters, "most": 2000}, prepare=False
        )
        plan = "\n".join(line for (line,) in await cursor.fetchall())

    assert index in plan


async def test_a_long_path_is_found_by_its_prefix(conn: Connection, application_id: UUID) -> None:
    path = "docs/" * 40
    record: dict[str, Any] = {
        "metadata": {}, "document": {}, "uri": path + "x", "title": None,
        "mediaType": "text/plain", "language": None,
        "type": "file", "name": "x", "createdAt": datetime.now(UTC), "updatedAt": datetime.now(UTC),
    }  # fmt: skip
    [id] = await _add(conn, application_id, [record])

    assert await _passing(conn, application_id, {"uri": {"prefix": path}}) == {id}
    assert await _passing(conn, application_id, {"uri": {"prefix": path + "y"}}) == set()
