"""What a release dumps, so that later versions can test their upgrade of it."""

from ingest.postgres.migrations import migrate
from tests.make_schema_dump import empty_tables, fill


async def test_the_dump_of_a_release_has_rows_in_every_table(empty_database: str) -> None:
    migrate(empty_database)

    await fill(empty_database)

    assert empty_tables(empty_database) == []
