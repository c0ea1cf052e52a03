"""A test of the checks: a fault of each kind is planted, must be reported, and is removed."""

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, LiteralString
from uuid import UUID

import psycopg

from ingest.analysis.terms import salt
from tests.chaos import checks, host, leftovers
from tests.chaos.checks import Problem
from tests.chaos.installation import Installation
from tests.chaos.model import ApplicationModel

_CHUNK: Final[LiteralString] = """
    (select chunk.id from rag.chunks as chunk
       join rag.knowledge_sources as source on source.id = chunk.source_id
      where source.type = 'file' and source.status = 'completed' order by chunk.id limit 1)
"""
_IN_THE_DATABASE: Final[Sequence[tuple[str, str, LiteralString]]] = (
    (
        "doubled",
        "a doubled chunk",
        "insert into rag.chunks (id, application_id, source_id, document_id, ordinal, content, "
        "embedded_hash, token_count, char_start, char_end, section_start, section_end) "
        "select gen_random_uuid(), application_id, source_id, document_id, ordinal + 1000, "
        "content, embedded_hash, token_count, char_start, char_end, section_start, section_end "
        f"from rag.chunks where id = {_CHUNK}",
    ),
    (
        "doubled",
        "a doubled vector",
        "insert into rag.embeddings_fresh select * from rag.embeddings as vector where not exists "
        "(select from rag.embeddings_fresh as fresh where fresh.chunk_id = vector.chunk_id) "
        "limit 1",
    ),
    ("lost", "a lost chunk", f"delete from rag.chunks where id = {_CHUNK}"),
    (
        "lost",
        "a lost file",
        "delete from rag.knowledge_sources where id = "
        f"(select source_id from rag.chunks where id = {_CHUNK})",
    ),
    (
        "leaked",
        "an old version",
        "update rag.chunks set content = regexp_replace(content, 'v[0-9]+p', 'v999p') "
        f"where id = {_CHUNK}",
    ),
    (
        "lost",
        "a missing event",
        "delete from rag.progress_events where (source_id, seq) = "
        "(select source_id, seq from rag.progress_events order by 1, 2 limit 1)",
    ),
    (
        "hung",
        "an open job",
        "update rag.processing_jobs set status = 'pending', run_at = now() + interval '1 hour' "
        "where id = (select id from rag.processing_jobs order by id limit 1)",
    ),
    (
        "hung",
        "too many attempts",
        "update rag.processing_jobs set attempts = max_attempts + 1 "
        "where id = (select id from rag.processing_jobs order by id limit 1)",
    ),
    (
        "lost",
        "an undelivered notification",
        "update rag.webhook_deliveries set status = 'failed' "
        "where id = (select id from rag.webhook_deliveries order by id limit 1)",
    ),
)
_GIVE: Final[Sequence[LiteralString]] = (
    "update rag.knowledge_sources set application_id = %(application)s where id = %(source)s",
    "update rag.documents set application_id = %(application)s where source_id = %(source)s",
    # The terms of the keyword index are salted with the application.
    "update rag.chunks set application_id = %(application)s, words = array(select word # %(salts)s "
    "from unnest(words) with ordinality as own(word, place) order by place) "
    "where source_id = %(source)s",
    "update rag.embeddings set application_id = %(application)s where chunk_id in "
    "(select id from rag.chunks where source_id = %(source)s)",
)


def missed(on: Installation, models: Sequence[ApplicationModel]) -> tuple[int, list[str]]:
    """How many faults were planted, and those that no check reported. The run must be at rest."""

    def content() -> list[Problem]:
        return checks.check_rows(on) + checks.check_contents(on, models)

    def search() -> list[Problem]:
        return checks.check_search(on, models)

    def notifications() -> list[Problem]:
        return checks.check_notifications(on, models)

    def blobs() -> list[Problem]:
        return leftovers.check_blobs(on)[0]

    def processes() -> list[Problem]:
        return leftovers.check_processes(known)

    known = set(host.descendants(os.getpid()))
    planted: list[tuple[str, str, Any, Callable[[], list[Problem]]]] = [
        (kind, name, _changed(on, statement), content) for kind, name, statement in _IN_THE_DATABASE
    ]
    planted += [
        ("leaked", "a hit of another application", _given_away(on, models), search),
        ("lost", "a message that never came", _untold(on, models[0]), notifications),
        ("lost", "a blob that is gone", _without_blob(on), blobs),
        ("leaked", "a stray file", _stray(on), blobs),
        ("leaked", "a process left behind", _process(), processes),
    ]
    failed = []
    for kind, name, plant, check in planted:
        with plant:
            if kind not in {found for found, _ in check()}:
                failed.append(name)
    return len(planted), failed


@contextmanager
def _changed(on: Installation, statement: LiteralString) -> Iterator[None]:
    connection: psycopg.Connection[Any] = on.postgres._connection()
    with connection.transaction(force_rollback=True):
        if connection.execute(statement).rowcount != 1:
            raise AssertionError(f"planted nothing: {statement}")
        yield


@contextmanager
def _given_away(on: Installation, models: Sequence[ApplicationModel]) -> Iterator[None]:
    """A file of one application becomes another's, as far as its search can tell."""
    sources = {str(file.source) for model in models for file in model.living()}
    [(source, owner)] = on.postgres.rows(
        "select source_id, application_id::text from rag.chunks as chunk "
        f"where id = {_CHUNK} and source_id::text = any(%s)",
        list(sources),
    )
    other = next(model.id for model in models if model.id != owner)
    salts = salt(UUID(owner)) ^ salt(UUID(other))
    _give(on, source, other, salts)
    try:
        yield
    finally:
        _give(on, source, owner, salts)


def _give(on: Installation, source: object, application: str, salts: int) -> None:
    values = {"source": source, "application": application, "salts": salts}
    connection: psycopg.Connection[Any] = on.postgres._connection()
    for statement in _GIVE:
        connection.execute(statement, values)


@contextmanager
def _untold(on: Installation, model: ApplicationModel) -> Iterator[None]:
    taken = on.receiver.taken
    key = next(key for key, times in taken.items() if times and key[0] == model.number)
    times = taken.pop(key)
    try:
        yield
    finally:
        taken[key] = times


@contextmanager
def _without_blob(on: Installation) -> Iterator[None]:
    [(key,)] = on.postgres.rows(
        "select blob_key from rag.knowledge_sources where blob_key is not null "
        "and deleted_at is null order by id limit 1"
    )
    path = on.blobs / key
    kept = path.read_bytes()
    path.unlink()
    try:
        yield
    finally:
        path.write_bytes(kept)


@contextmanager
def _stray(on: Installation) -> Iterator[None]:
    path = on.blobs / "stray.part"
    path.write_bytes(b"stray")
    try:
        yield
    finally:
        path.unlink()


@contextmanager
def _process() -> Iterator[None]:
    child = subprocess.Popen(["sleep", "60"])
    try:
        yield
    finally:
        child.kill()
        child.wait()
