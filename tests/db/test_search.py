"""Search finds what is there: exactly enough, in any language, and only behind one's own walls."""

from collections.abc import Sequence
from uuid import UUID, uuid4

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pgvector import Vector
from psycopg import sql

from ingest.db import Connection
from ingest.store import search, sources
from ingest.store.search import Ranked, Scope
from tests.knowledge import Space, add_document, add_space
from tests.builders import add_application

# Above what is compared one by one: such a search goes through the index.
DIMENSION = 256
MANY = search._EXACT_NUMBERS // DIMENSION + 1


@pytest.fixture
async def space(conn: Connection) -> Space:
    return await add_space(conn)


async def nearest(
    conn: Connection, scope: Scope, space: Space, vector: NDArray[np.float32], limit: int = 10
) -> list[UUID]:
    async with conn.transaction():
        found = await search.by_vector(conn, scope, model_id=space.id, vector=vector, limit=limit)
    return [hit.id for hit in found]


async def texts(conn: Connection, ids: Sequence[UUID]) -> list[str]:
    cursor = await conn.execute("select id, content from rag.chunks where id = any(%s)", [ids])
    contents = dict(await cursor.fetchall())
    return [contents[id] for id in ids]


async def keyword(conn: Connection, application_id: UUID, query: str, limit: int = 10) -> list[str]:
    found = await search.by_keyword(
        conn, Scope(application_id=application_id), query, limit=limit, enough=limit, ranked=1000
    )
    return await texts(conn, [hit.id for hit in found])


# ---------------------------------------------------------------- by vector


async def fill(conn: Connection, application_id: UUID, space: Space, count: int) -> None:
    """Chunks with vectors only. The index is built when they are in: that is 20 times faster."""
    await add_document(conn, application_id, space, ["seed"])
    async with conn.transaction():
        cursor = await conn.execute(
            "select indexdef from pg_indexes where indexname = %s", [f"embeddings_hnsw_{space.id}"]
        )
        row = await cursor.fetchone()
        assert row is not None
        await conn.execute(f"drop index rag.embeddings_hnsw_{space.id}".encode())
        await conn.execute("create temp table new (id uuid, embedding vector) on commit drop")
        async with conn.cursor() as cur, cur.copy("copy new from stdin (format binary)") as copy:
            copy.set_types(["uuid", "vector"])
            for vector in space.clustered(count):
                await copy.write_row((uuid4(), vector))
        await conn.execute(
            "insert into rag.chunks (id, application_id, source_id, document_id, ordinal, content, "
            "content_hash, token_count, char_start, char_end) "
            "select new.id, application_id, source_id, document_id, row_number() over (), '', '', "
            "1, 0, 0 from new cross join "
            "(select * from rag.chunks where application_id = %s limit 1) as seed",
            [application_id],
        )
        await conn.execute(
            "insert into rag.embeddings (chunk_id, model_id, application_id, embedding) "
            "select id, %s, %s, embedding from new",
            [space.id, application_id],
        )
        await conn.execute(row[0])
    await conn.execute("analyze rag.embeddings")
    await conn.execute("analyze rag.chunks")


async def index_is_used(
    conn: Connection, application_id: UUID, space: Space, vector: NDArray[np.float32]
) -> bool:
    statement = search.indexed_statement(space.id, dimension=space.dimension)
    cursor = await conn.execute(
        sql.SQL("explain ") + statement,
        {
            **Scope(application_id=application_id).parameters(),
            "vector": Vector(vector),
            "limit": 10,
        },
        prepare=False,
    )
    return any(f"embeddings_hnsw_{space.id}" in row[0] for row in await cursor.fetchall())


async def test_a_large_application_is_searched_by_its_index_and_little_is_missed(
    conn: Connection, application_id: UUID
) -> None:
    space = await add_space(conn, dimension=DIMENSION)
    await fill(conn, application_id, space, MANY)
    queries = space.clustered(20)

    found = exact = 0
    for query in queries:
        mine = await nearest(conn, Scope(application_id=application_id), space, query)
        cursor = await conn.execute(
            "select chunk_id from rag.embeddings order by embedding <=> %s limit 10",
            [Vector(query)],
        )
        best = {row[0] for row in await cursor.fetchall()}
        found += len(best & set(mine))
        exact += len(best)

    assert await index_is_used(conn, application_id, space, queries[0])
    assert found / exact >= 0.95


async def test_a_tiny_application_gets_its_hits_among_many_foreign_vectors(
    conn: Connection, application_id: UUID
) -> None:
    space = await add_space(conn, dimension=16)
    await fill(conn, await add_application(conn), space, 20_000)
    await add_document(conn, application_id, space, [f"mine {n}" for n in range(12)])
    scope = Scope(application_id=application_id)
    query = space.clustered(1)[0]

    compared = await nearest(conn, scope, space, query)
    async with conn.transaction():
        await conn.execute(search._SQL["tune"])
        # The planner would rather sort so few; a larger application has only the index.
        await conn.execute("set local enable_sort = off")
        uses_index = await index_is_used(conn, application_id, space, query)
        by_index = await search._rows(
            conn,
            search.indexed_statement(space.id, dimension=16),
            {**scope.parameters(), "vector": Vector(query), "limit": 10},
        )

    assert uses_index
    assert len(compared) == 10
    assert [hit.id for hit in by_index] == compared
    assert all(text.startswith("mine") for text in await texts(conn, compared))


async def test_hits_come_nearest_first_with_their_similarity(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    query = np.eye(8, dtype=np.float32)[0]
    vectors = np.array([[1, t, 0, 0, 0, 0, 0, 0] for t in (0, 3, 1)], dtype=np.float32)
    await add_document(conn, application_id, space, ["same", "far", "near"], vectors=vectors)
    async with conn.transaction():
        found = await search.by_vector(
            conn, Scope(application_id=application_id), model_id=space.id, vector=query, limit=10
        )

    assert await texts(conn, [hit.id for hit in found]) == ["same", "near", "far"]
    assert [hit.score for hit in found] == pytest.approx([1, 1 / 2**0.5, 1 / 10**0.5], abs=1e-4)


async def test_two_models_side_by_side_do_not_mix(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    wide = await add_space(conn, name="wider", dimension=2500)
    await add_document(conn, application_id, space, ["narrow"])
    await add_document(conn, application_id, wide, ["wide"])
    scope = Scope(application_id=application_id)

    by_narrow = await nearest(conn, scope, space, space.clustered(1)[0])
    by_wide = await nearest(conn, scope, wide, wide.clustered(1)[0])

    assert await texts(conn, by_narrow) == ["narrow"]
    assert await texts(conn, by_wide) == ["wide"]


async def test_a_wide_model_is_indexed_as_half_vectors(
    conn: Connection, application_id: UUID
) -> None:
    wide = await add_space(conn, name="wider", dimension=2500)
    query = wide.clustered(1)[0]
    await conn.execute("set enable_seqscan = off")
    await conn.execute("set enable_sort = off")

    assert await index_is_used(conn, application_id, wide, query)


# ---------------------------------------------------------------- by keyword


async def test_the_first_sentence_of_a_document_finds_it(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    sentence = (
        'The "quick" brown fox - or was it -5 hounds? - jumped; it isn\'t (really) lazy & old!'
    )
    await add_document(conn, application_id, space, ["Foxes are brown.", "Hounds are old or lazy."])
    await add_document(conn, application_id, space, [f"{sentence} And then it rained all day."])

    found = await keyword(conn, application_id, sentence)

    assert found[0].startswith(sentence)


async def test_chunks_with_all_words_come_before_those_with_some(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(
        conn, application_id, space, ["solar solar solar", "wind and solar power", "coal"]
    )
    found = await search.by_keyword(
        conn, Scope(application_id=application_id), "solar wind", limit=5, enough=5, ranked=100
    )

    assert await texts(conn, [hit.id for hit in found]) == [
        "wind and solar power",
        "solar solar solar",
    ]
    assert found[0].score > 1 > found[1].score > 0


async def test_a_phrase_in_quotes_is_found_before_its_scattered_words(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(
        conn, application_id, space, ["layer upon boundary", "the boundary layer grows"]
    )

    found = await keyword(conn, application_id, '"boundary layer"', limit=1)

    assert found == ["the boundary layer grows"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("大学", "東京大学は本郷にある。"),
        ("本郷 東京", "東京大学は本郷にある。"),
        ("北京烤鸭", "北京烤鸭很好吃"),
        ("烤鸭在哪里", "北京烤鸭很好吃"),
        ("한국어", "한국어를 배웁니다"),
        ("PDF 読む", "PDFを読む方法"),
        ("𠮷野家", "𠮷野家で食べる"),
    ],
)
async def test_words_are_found_in_languages_without_spaces(
    conn: Connection, application_id: UUID, space: Space, query: str, expected: str
) -> None:
    everything = [
        "東京大学は本郷にある。",
        "北京烤鸭很好吃",
        "한국어를 배웁니다",
        "PDFを読む方法",
        "𠮷野家で食べる",
        "京東学大",
    ]
    await add_document(conn, application_id, space, everything)

    found = await keyword(conn, application_id, query)

    assert found[0] == expected


async def test_characters_in_another_order_are_another_word(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(conn, application_id, space, ["京東学大"])

    assert await keyword(conn, application_id, "東京") == []


@pytest.mark.parametrize(
    "query",
    [
        "\0\0",
        "!!! ... ???",
        "the of and",
        "a & | ! : * <-> () ''",
        '"unterminated',
        "\\ ' \\' :*A",
        "x" * 8000,
        "word " * 1600,
        "東" * 4000,
        '"' * 500,
        "or or or -",
        "\ud800",
        "https://example.com/a?b=c&d=%20 user@example.com /etc/passwd -- ; drop table",
    ],
    ids=lambda query: repr(query[:12]),
)
async def test_no_query_is_an_error(
    conn: Connection, application_id: UUID, space: Space, query: str
) -> None:
    await add_document(conn, application_id, space, ["some text"])

    assert await keyword(conn, application_id, query) == []


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    query=st.text(
        alphabet=st.characters() | st.sampled_from("'\"\\&|!:*()<>- 東京"), min_size=1, max_size=80
    )
)
async def test_random_queries_are_no_errors(
    conn: Connection, application_id: UUID, query: str
) -> None:
    await keyword(conn, application_id, query)


async def test_a_word_in_every_chunk_does_not_hide_the_telling_one(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    common = [f"report of everything number {n}" for n in range(600)]
    await add_document(conn, application_id, space, [*common, "report mentions a heron"])
    await conn.execute("analyze rag.chunks")

    found = await search.by_keyword(
        conn,
        Scope(application_id=application_id),
        "which report has herons and zebras",
        limit=5,
        enough=5,
        ranked=100,
    )

    assert await texts(conn, [hit.id for hit in found]) == ["report mentions a heron"]


# ---------------------------------------------------------------- both


def ranked(*ids: UUID) -> list[Ranked]:
    return [Ranked(id=id, score=1) for id in ids]


def test_fusion_prefers_what_is_good_in_both_rankings() -> None:
    a, b, c, d = [uuid4() for _ in range(4)]

    fused = search.fuse(ranked(a, b, c), ranked(d, b), limit=3)

    assert [hit.id for hit in fused] == [b, a, d]
    assert fused[0].score == pytest.approx(2 / 62)
    assert fused[1].score == pytest.approx(1 / 61)


def test_fusion_of_nothing_is_nothing() -> None:
    assert search.fuse([], [], limit=10) == []


async def everywhere(
    conn: Connection, scope: Scope, space: Space, query: str = "shared"
) -> set[str]:
    """What any kind of search finds."""
    by_vector = await nearest(conn, scope, space, np.ones(space.dimension, np.float32), limit=100)
    by_keyword = await search.by_keyword(conn, scope, query, limit=100, enough=100, ranked=1000)
    ids = {*by_vector, *(hit.id for hit in by_keyword)}
    loaded = await search.load(conn, ranked(*ids), application_id=scope.application_id)
    assert len(loaded) == len(ids)
    return {hit.content for hit, _ in loaded}


async def test_nothing_of_another_application_is_found(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    other = await add_application(conn)
    foreign = await add_document(conn, other, space, ["shared secret"])
    await add_document(conn, application_id, space, ["shared mine"])

    assert await everywhere(conn, Scope(application_id=application_id), space) == {"shared mine"}
    named = Scope(application_id=application_id, source_ids=[foreign])
    assert await everywhere(conn, named, space) == set()


async def test_foreign_chunks_are_not_loaded(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    other = await add_application(conn)
    await add_document(conn, other, space, ["secret"])
    cursor = await conn.execute("select id from rag.chunks")
    ids = [row[0] for row in await cursor.fetchall()]

    assert await search.load(conn, ranked(*ids), application_id=application_id) == []


async def test_a_deleted_source_or_document_is_not_found(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    gone = await add_document(conn, application_id, space, ["shared gone"])
    page = await add_document(conn, application_id, space, ["shared page"])
    await add_document(conn, application_id, space, ["shared here"])
    await sources.tombstone(conn, application_id=application_id, ids=[gone])
    await conn.execute("update rag.documents set deleted_at = now() where source_id = %s", [page])

    assert await everywhere(conn, Scope(application_id=application_id), space) == {"shared here"}


async def test_filters_narrow_every_kind_of_search(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    french = await add_document(
        conn,
        application_id,
        space,
        ["shared french"],
        metadata='{"lang": "fr", "tags": ["a", "b"]}',
    )
    await add_document(conn, application_id, space, ["shared german"], metadata='{"lang": "de"}')

    def scope(**narrow: object) -> Scope:
        return Scope(application_id=application_id, **narrow)  # type: ignore[arg-type] # as named

    assert await everywhere(conn, scope(source_ids=[french]), space) == {"shared french"}
    assert await everywhere(conn, scope(source_ids=[]), space) == set()
    assert await everywhere(conn, scope(metadata={"lang": "de"}), space) == {"shared german"}
    assert await everywhere(conn, scope(metadata={"tags": ["b"]}), space) == {"shared french"}
    both = scope(metadata={"lang": "de"}, source_ids=[french])
    assert await everywhere(conn, both, space) == set()


async def test_hits_say_where_they_come_from(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    titled = await add_document(conn, application_id, space, ["one"], title="A title")
    untitled = await add_document(conn, application_id, space, ["two"])
    cursor = await conn.execute("select id from rag.chunks order by content")
    ids = [row[0] for row in await cursor.fetchall()]

    [(first, _), (second, _)] = await search.load(conn, ranked(*ids), application_id=application_id)

    assert (first.knowledge_source_id, first.title) == (titled, "A title")
    assert (second.knowledge_source_id, second.title) == (untitled, "a name")
    assert (first.uri, first.page, first.headings) == ("folder/file.txt", 1, ["A"])
