"""Reviews of files over HTTP: reading what is asked about, and deciding."""

import asyncio
from uuid import UUID

import httpx
import pytest

from ingest.postgres.database import Connection
from ingest.store.documents.held_documents import held_uri
from tests.api.helpers import finish_file_job, upload


@pytest.fixture
async def waiting(editor: httpx.AsyncClient, conn: Connection) -> tuple[str, UUID]:
    """A job that waits for a review, and the document that it holds back."""
    file = (await upload(editor, {"a.txt": b"a"})).json()["files"][0]
    document_id = await finish_file_job(conn, UUID(file["jobId"]), chunks=["to be decided"])
    await conn.execute(
        "update rag.documents set held_by_job_id = %s, uri = %s, deleted_at = now() where id = %s",
        [file["jobId"], held_uri(UUID(file["jobId"])), document_id],
    )
    await conn.execute(
        "update rag.processing_jobs set status = 'review_needed', review_reason = 'low_coverage' "
        "where id = %s",
        [file["jobId"]],
    )
    return file["jobId"], document_id


async def test_reviewer_can_read_the_held_text(
    viewer: httpx.AsyncClient,
    stranger: httpx.AsyncClient,
    waiting: tuple[str, UUID],
) -> None:
    job_id, document_id = waiting

    job = (await viewer.get(f"/api/jobs/{job_id}")).json()
    mine, theirs = [
        await client.get(f"/api/documents/{document_id}/text") for client in (viewer, stranger)
    ]

    assert (job["status"], job["reviewReason"]) == ("review_needed", "low_coverage")
    assert (mine.status_code, mine.text) == (200, "to be decided")
    assert theirs.status_code == 404


async def test_concurrent_review_decisions_conflict(
    editor: httpx.AsyncClient, waiting: tuple[str, UUID]
) -> None:
    job_id, document_id = waiting

    answers = await asyncio.gather(
        *(editor.post(f"/api/jobs/{job_id}/{decision}") for decision in ("approve", "reject"))
    )
    text = await editor.get(f"/api/documents/{document_id}/text")

    approved, rejected = (answer.status_code for answer in answers)
    assert sorted([approved, rejected]) == [200, 409]
    assert text.status_code == (200 if approved == 200 else 404)
    refused = answers[0 if approved == 409 else 1].json()
    assert refused["code"] == "not_reviewable"
