"""How hits of a keyword search are ranked."""

from uuid import UUID

from ingest.postgres.database import Connection
from ingest.store.search.scope import SearchScope
from tests.db.search.keyword_hits import keyword
from tests.support.queue_builders import add_application
from tests.support.searchable_chunks import Space, add_document, found_by_words


async def test_a_word_in_every_chunk_does_not_hide_the_telling_one(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    common = [f"report of everything number {n}" for n in range(600)]
    await add_document(conn, application_id, space, [*common, "report mentions a heron"])

    found = await keyword(conn, application_id, "which report has herons and zebras", most=100)

    assert found[0] == "report mentions a heron"


async def test_chunks_with_two_common_words_are_ranked_before_others(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    halves = [text for n in range(300) for text in (f"wing number {n}", f"tail number {n}")]
    await add_document(conn, application_id, space, [*halves, "wing and tail"])

    found = await keyword(conn, application_id, "tail wing", most=100)

    assert found[0] == "wing and tail"


async def test_a_rare_word_weighs_more_than_a_common_one(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    common = [f"wing number {n}" for n in range(50)]
    await add_document(
        conn,
        application_id,
        space,
        [*common, "wing wing flutter", "ornithopter flutter seen near Berlin yesterday"],
    )

    found = await keyword(conn, application_id, "wing flutter of an ornithopter and more")

    assert found[0] == "ornithopter flutter seen near Berlin yesterday"


async def test_other_applications_do_not_change_the_scores(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    await add_document(conn, application_id, space, ["owl by night", "fox by day"])
    scope = SearchScope(application_id=application_id)
    before = await found_by_words(conn, scope, "owl by day")
    other = await add_application(conn)
    await add_document(conn, other, space, ["owl"] * 50)

    after = await found_by_words(conn, scope, "owl by day")

    assert after == before
    assert len(after) == 2


async def test_title_path_and_headings_are_found(
    conn: Connection, application_id: UUID, space: Space
) -> None:
    """`add_document` gives the path `folder/file.txt` and the heading `A`."""
    await add_document(conn, application_id, space, ["changed after 200 hours"], title="Heron pump")
    await add_document(conn, application_id, space, ["changed after 237 hours"], title="Teal pump")

    assert await keyword(conn, application_id, "When is the heron changed?") == [
        "changed after 200 hours",
        "changed after 237 hours",
    ]
    assert len(await keyword(conn, application_id, "folder")) == 2
