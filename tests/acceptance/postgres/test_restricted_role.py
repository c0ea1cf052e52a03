"""A database whose administrator gave the service two schemas and nothing else."""

from collections.abc import Iterator
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from harness.database import Database
from harness.patience import LONG_PATIENCE
from harness.service import services, until
from tests.acceptance.files import sentence, text_file


@pytest.fixture
def theirs(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "theirs", is_restricted=True)
    try:
        yield database
    finally:
        database.stop()


def test_files_are_stored_found_and_deleted_by_a_role_that_only_owns_its_schemas(
    theirs: Database, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    with services(data=data, env={"DATABASE_URL": theirs.service_dsn}) as start:
        api = start("serve").wait_until_ready()
        answer = api.upload([text_file(1), text_file(2)])
        api.wait_until_terminal(theirs.default_application())
        hits = {
            mode: api.search(sentence(1), mode=mode) for mode in ("keyword", "vector", "hybrid")
        }
        [first, second] = [file["knowledgeSourceId"] for file in answer["files"]]
        api.http.delete(f"/api/knowledge-sources/{second}").raise_for_status()
        until(
            lambda: (
                not theirs.count("select count(*) from rag.knowledge_sources where id = %s", second)
            )
        )

    assert {mode: found[0]["knowledgeSourceId"] for mode, found in hits.items()} == dict.fromkeys(
        hits, first
    )
    with psycopg.connect(make_conninfo(theirs.service_dsn)) as unscoped:
        assert unscoped.execute("select count(*) from rag.chunks").fetchone() == (0,)
    assert theirs.count("select count(*) from rag.chunks") > 0
    assert theirs.count("select count(*) from pg_roles where rolname like 'rag_ingest%%'") == 0


def test_a_role_whose_sessions_would_refuse_policies_works(
    theirs: Database, tmp_path: Path
) -> None:
    """With row_security off, statements fail that would see fewer rows."""
    theirs.execute("alter role restricted set row_security = off")
    (data := tmp_path / "data").mkdir()
    with services(data=data, env={"DATABASE_URL": theirs.service_dsn}) as start:
        start("serve").wait_until_ready()


@pytest.mark.parametrize(
    ("rights", "said"),
    [
        ("grant all on all tables in schema app, rag to guest", "lacks a right: must be owner of"),
        ("alter role guest connection limit 1", "could not open the first connections"),
    ],
)
def test_a_role_that_does_not_suffice_ends_the_start_with_one_line(
    theirs: Database, tmp_path: Path, rights: LiteralString, said: str
) -> None:
    theirs.execute("create role guest login")
    theirs.execute(
        "grant all on schema app, rag to guest; grant usage on schema extensions to guest"
    )
    theirs.execute(rights)
    (data := tmp_path / "data").mkdir()
    guest = make_conninfo(theirs.service_dsn, user="guest")
    if "connection limit" in rights:
        theirs.execute("grant restricted to guest")
    with services(data=data, env={"DATABASE_URL": guest}) as start:
        service = start("serve")
        assert service.process.wait(LONG_PATIENCE) == 2
        lines = service.log.read_text()

    assert said in lines
    assert "Traceback" not in lines
