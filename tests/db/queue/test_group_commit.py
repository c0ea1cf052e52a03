"""Outcomes that cannot be written, beside others that can."""

from uuid import UUID, uuid4

import numpy as np
import pytest

from harness.pools import pool_across_applications
from ingest.handlers.context import Context, Outcome, Progress
from ingest.model import ChunkSettings, Document
from ingest.postgres.database import Connection, Pool, transaction
from ingest.store.documents.documents import NewDocument
from ingest.store.queue import job_types
from ingest.store.queue.jobs import ClaimedJob, Ended
from ingest.worker import group_commit
from ingest.worker.attempt import attempt
from ingest.worker.commit import Finished, commit
from tests.support.queue_builders import claim, enqueue
from tests.support.running_worker import committed, running_worker, until_status


async def _break_off(conn: Connection) -> None:
    await conn.execute("reset role; select pg_terminate_backend(pg_backend_pid())")


async def test_a_write_that_loses_its_connection_each_time_fails_its_own_job_only(
    dsn: str,
    pool: Pool,
    conn: Connection,
    application_id: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(group_commit, "_RETRY_SECONDS", 0.01)
    tries: list[UUID] = []
    deadly, *others = await enqueue(conn, application_id, 4)
    await conn.execute("update rag.processing_jobs set max_attempts = 1")

    async def write(conn: Connection) -> None:
        tries.append(deadly)
        await _break_off(conn)

    async def work(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
        return Outcome(write=write if job.id == deadly else None)

    async with running_worker(dsn, pool, {"file": work}):
        row = await until_status(conn, deadly, "failed")
        for id in others:
            await until_status(conn, id, "completed")

    assert row["last_error_message"] == "the database could not be reached"
    # By itself six times; with others before that, or alone.
    assert len(tries) in range(6, 14)


async def test_outcomes_are_not_split_when_the_pool_times_out(
    dsn: str, conn: Connection, application_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "_RETRY_SECONDS", 0.01)
    sizes: list[int] = []

    async def counted(pool: Pool, group: list[Finished]) -> set[int]:
        sizes.append(len(group))
        if len(sizes) > 2:
            return await commit(pool, group)
        async with pool.session():  # the only one
            return await commit(pool, group)

    monkeypatch.setattr("ingest.worker.group_commit.commit", counted)
    await enqueue(conn, application_id, 3)
    async with pool_across_applications(dsn, size=1, application_name="one") as pool:
        async with transaction(pool) as ours:
            taken = await claim(ours, batch=3)
            types = {row.type: row for row in await job_types.all_types(ours)}

        async def work(job: ClaimedJob, ctx: Context, progress: Progress) -> Outcome:
            return Outcome(result={"is": "not bare"})

        outcomes = [
            await attempt(
                job,
                types["file"],
                handlers={"file": work},
                context=None,  # type: ignore[arg-type]  # the handler touches nothing of it
                progress=Progress(job),
            )
            for job in taken
        ]
        pool.connections.open.timeout = 0.2
        assert await committed(pool, [one for one in outcomes if one]) == [True] * 3

    assert sizes == [3, 3, 3]


def _document(application_id: UUID, *, characters: int) -> NewDocument:
    return NewDocument(
        application_id=application_id,
        source_id=uuid4(),
        uri="file.txt",
        content_hash=b"hash",
        document=Document(text="." * characters, media_type="text/plain", extractor="text"),
        chunks=[],
        hashes=[],
        vectors=np.zeros((0, 8), dtype=np.float32),
        embedded=np.zeros(0, dtype=np.bool_),
        model_id=1,
        chunking=ChunkSettings(tokenizer="minilm", size=256, overlap=32),
        is_partial=False,
    )


async def test_documents_of_much_text_are_not_put_into_one_statement(
    pool: Pool, conn: Connection, application_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "_MAX_GROUP_CHARACTERS", 100)
    groups: list[list[int]] = []

    async def noted(pool: Pool, group: list[Finished]) -> set[int]:
        groups.append([finished.characters for finished in group])
        return {finished.ended.job.position for finished in group}

    monkeypatch.setattr("ingest.worker.group_commit.commit", noted)
    sizes = [60, 40, 200, 0, 20, 90]
    await enqueue(conn, application_id, len(sizes))
    jobs = await claim(conn, batch=len(sizes))
    outcomes = [
        Finished(
            ended=Ended(job=job, status="completed"),
            documents=[_document(application_id, characters=size)],
        )
        for job, size in zip(jobs, sizes, strict=True)
    ]

    assert await committed(pool, outcomes) == [True] * len(sizes)
    assert groups == [[60, 40], [200], [0, 20], [90]]
