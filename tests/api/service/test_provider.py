"""An embedding provider that fails: what each front door says of it, and how its pause is ended."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import cast
from uuid import UUID

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray

from harness.patience import PATIENCE
from ingest.embedding.service import EmbeddingService
from ingest.errors import Transient
from ingest.governor import Governor
from ingest.postgres.database import Connection
from ingest.runtime import Runtime
from ingest.store.limits.provider_lanes import Cause
from tests.api.conftest import MakeKey, connect, fake_vector, serve
from tests.api.helpers import upload
from tests.support.prometheus_text import scrape
from tests.support.provider_lanes import LANE, lane_row
from tests.support.queue_builders import job_row
from tests.support.searchable_chunks import Space, add_document

SAID = "the embedding provider: the key is not accepted: HTTP 401"
UNAUTHORIZED = Cause(code="embedding_unauthorized", status=401, message=SAID)
RESUME = "/api/worker/provider/resume"


class Refusing:
    """An embedder whose provider refuses the key."""

    async def embed_query(self, text: str, token_count: int) -> NDArray[np.float32]:
        raise Transient(SAID, code="embedding_unauthorized", retry_after=timedelta(seconds=3))


@pytest.fixture
async def refused(
    runtime: Runtime, application_id: UUID, make_key: MakeKey
) -> AsyncIterator[httpx.AsyncClient]:
    """A viewer of an installation whose embedding provider refuses the key."""
    embedder = cast(EmbeddingService, Refusing())
    parts = replace(runtime.search_parts, embedder=embedder)
    refusing = replace(runtime, embedder=embedder, search_parts=parts, lane=LANE)
    key = await make_key(application_id, "viewer")
    async with serve(refusing) as app, connect(app, key) as client:
        yield client


async def fail(runtime: Runtime) -> None:
    await runtime.governor.record_failure(LANE, cause=UNAUTHORIZED, at_once=True)


async def let_wait(conn: Connection, job_id: str) -> None:
    """As a worker leaves a job whose provider refuses the key."""
    await conn.execute(
        "update rag.processing_jobs set run_at = now() + interval '10 minutes',"
        " wait_reason = 'provider_unavailable', last_error_code = 'embedding_unauthorized',"
        " last_error_message = %s where id = %s",
        [SAID, job_id],
    )


async def waiting_file(client: httpx.AsyncClient, conn: Connection) -> dict[str, str]:
    [file] = (await upload(client, {"a.txt": b"a"})).json()["files"]
    await let_wait(conn, file["jobId"])
    return dict(file)


# -- what is said


async def test_hybrid_search_without_embedder_uses_keywords_and_reports_it(
    refused: httpx.AsyncClient, runtime: Runtime, conn: Connection, application_id: UUID
) -> None:
    space = Space(id=runtime.model_id, dimension=runtime.model.dimension)
    texts = ["herons eat fish", "owls eat mice"]
    vectors = np.stack([fake_vector(text) for text in texts])
    await add_document(conn, application_id, space, texts, vectors=vectors)
    before = (await scrape(refused)).value(
        "rag_ingest_searches_degraded_total", code="embedding_unauthorized"
    )

    answer = await refused.post("/api/search", json={"query": "herons"})
    by_words = await refused.post("/api/search", json={"query": "herons", "mode": "keyword"})

    assert answer.status_code == 200
    body = answer.json()
    assert [hit["content"] for hit in body["hits"]] == ["herons eat fish"]
    assert body["hits"] == by_words.json()["hits"]
    assert body["degraded"] == ["vector"]
    assert body["degradedReason"] == f"embedding_unauthorized: {SAID}"
    assert (by_words.json()["degraded"], by_words.json()["degradedReason"]) == ([], None)
    after = (await scrape(refused)).value(
        "rag_ingest_searches_degraded_total", code="embedding_unauthorized"
    )
    assert after == (before or 0) + 1


async def test_vector_search_without_embedder_reports_the_cause(refused: httpx.AsyncClient) -> None:
    answer = await refused.post("/api/search", json={"query": "herons", "mode": "vector"})

    assert (answer.status_code, answer.json()["code"]) == (503, "embedding_unauthorized")
    assert answer.json()["detail"] == SAID
    assert answer.headers["retry-after"] == "3"


async def test_readiness_is_degraded_with_the_cause_until_the_provider_is_back(
    refused: httpx.AsyncClient, runtime: Runtime, conn: Connection
) -> None:
    await fail(runtime)
    failing = (await refused.get("/readyz")).json()
    gauge = (await scrape(refused)).value(
        "rag_ingest_lane_failing", lane=LANE, code="embedding_unauthorized"
    )
    await conn.execute("update rag.lanes set paused_until = now()")
    await runtime.governor.record_success(LANE)
    back = (await refused.get("/readyz")).json()

    assert failing["status"] == "degraded"
    assert failing["provider"].pop("since") is not None
    assert failing["provider"] == {
        "code": "embedding_unauthorized",
        "httpStatus": 401,
        "message": SAID,
    }
    assert gauge == 1
    assert back["provider"] is None


async def test_lane_of_an_old_key_does_not_degrade_readiness(
    anonymous: httpx.AsyncClient, runtime: Runtime, conn: Connection
) -> None:
    await fail(runtime)
    await conn.execute("update rag.lanes set paused_until = now() - interval '11 minutes'")

    seen = await scrape(anonymous)

    assert seen.value("rag_ingest_lane_failing", lane=LANE, code="embedding_unauthorized") is None


async def test_job_and_source_show_the_wait_reason(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    file = await waiting_file(editor, conn)

    job = (await editor.get(f"/api/jobs/{file['jobId']}")).json()
    source = (await editor.get(f"/api/knowledge-sources/{file['knowledgeSourceId']}")).json()
    [listed] = (await editor.get("/api/knowledge-sources")).json()["items"]

    assert (job["waitReason"], job["lastErrorCode"], job["lastErrorMessage"]) == (
        "provider_unavailable",
        "embedding_unauthorized",
        SAID,
    )
    assert source["waiting"] == listed["waiting"]
    assert source["waiting"] == {
        "reason": "provider_unavailable",
        "code": "embedding_unauthorized",
        "message": SAID,
        "until": job["runAt"],
        "jobId": file["jobId"],
    }


async def test_source_shows_the_wait_reason_of_its_pages(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    [file] = (await upload(editor, {"a.txt": b"a"})).json()["files"]
    await conn.execute(
        "insert into rag.processing_jobs (id, application_id, knowledge_source_id, parent_job_id,"
        " type, run_at, wait_reason, last_error_code, last_error_message, max_attempts)"
        " select gen_random_uuid(), application_id, knowledge_source_id, id, 'member',"
        " now() + interval '1 minute', 'provider_unavailable', 'embedding_quota', 'pay', 5"
        " from rag.processing_jobs where id = %s",
        [file["jobId"]],
    )
    await conn.execute(
        "update rag.processing_jobs set run_at = now() + interval '1 minute',"
        " wait_reason = 'pages' where id = %s",
        [file["jobId"]],
    )

    source = (await editor.get(f"/api/knowledge-sources/{file['knowledgeSourceId']}")).json()

    assert source["waiting"]["code"] == "embedding_quota"


# -- what ends it


async def test_operator_ends_all_pauses_and_resumes_jobs(
    operator: httpx.AsyncClient, runtime: Runtime, conn: Connection
) -> None:
    file = await waiting_file(operator, conn)
    await fail(runtime)
    await runtime.governor.record_rate_limit("firecrawl/x", retry_after=timedelta(hours=1))
    await conn.execute("update rag.lanes set paused_until = now() + interval '1 hour'")
    await conn.execute("listen rag_jobs")

    answer = await operator.post(RESUME)

    assert answer.json() == {"lanes": [LANE, "firecrawl/x"], "jobCount": 1}
    assert (await job_row(conn, UUID(file["jobId"])))["run_at"] is None
    assert await runtime.governor.reserve("firecrawl/x") is None
    assert await runtime.governor.reserve(LANE) is None
    async for _ in conn.notifies(timeout=PATIENCE, stop_after=1):
        return
    pytest.fail("no worker was woken")


async def test_only_the_operator_ends_pauses(
    admin: httpx.AsyncClient, runtime: Runtime, conn: Connection
) -> None:
    await fail(runtime)

    answer = await admin.post(RESUME)

    assert answer.status_code == 403
    assert (await lane_row(conn))["paused_until"] is not None


async def test_a_retry_starts_a_waiting_job_and_lets_the_provider_be_tried(
    editor: httpx.AsyncClient, runtime: Runtime, conn: Connection
) -> None:
    file = await waiting_file(editor, conn)
    await conn.execute("update rag.processing_jobs set attempts = 4")
    await fail(runtime)

    answer = await editor.post(f"/api/jobs/{file['jobId']}/retry")

    assert answer.status_code == 202
    job = answer.json()
    assert (job["status"], job["runAt"], job["waitReason"], job["attempts"]) == (
        "pending",
        None,
        None,
        0,
    )
    hold = await Governor(runtime.pool).reserve(LANE, may_probe=False)
    assert hold is not None
    assert hold.is_probe_due


async def test_a_retry_ends_no_pause_that_a_provider_asked_for(
    editor: httpx.AsyncClient, runtime: Runtime, conn: Connection
) -> None:
    file = await waiting_file(editor, conn)
    await runtime.governor.record_rate_limit(LANE, retry_after=timedelta(minutes=5))

    await editor.post(f"/api/jobs/{file['jobId']}/retry")

    assert await runtime.governor.current_hold(LANE) is not None


async def test_retry_cannot_start_jobs_of_another_application(
    editor: httpx.AsyncClient, stranger: httpx.AsyncClient, conn: Connection
) -> None:
    file = await waiting_file(editor, conn)

    answer = await stranger.post(f"/api/jobs/{file['jobId']}/retry")

    assert answer.status_code == 404
    assert (await job_row(conn, UUID(file["jobId"])))["run_at"] is not None


async def test_the_address_of_a_deployment_is_part_of_what_is_limited(
    runtime: Runtime, conn: Connection
) -> None:
    await conn.execute(
        "insert into rag.worker_config (key, value) values ('limits', %s::jsonb)"
        " on conflict (key) do update set value = excluded.value",
        [f'{{"{LANE}": {{"requestsPerMinute": 1}}}}'],
    )
    governor = replace(runtime).governor

    first, second = [await governor.reserve(f"{LANE}@0a1b2c3d") for _ in range(2)]

    assert first is None
    assert second is not None
