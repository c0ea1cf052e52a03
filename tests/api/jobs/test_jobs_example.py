"""The example of a job type does what docs/extending.md says, with exactly its requests."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import httpx
import pytest

from ingest.handlers.context import Context
from ingest.handlers.registry import load_handlers
from ingest.postgres.database import Connection, Pool
from tests.api.helpers import finish_file_job, upload
from tests.support.running_worker import running_worker, until_status

DOCS = Path(__file__).parents[3] / "docs"
EXAMPLES = DOCS / "examples"


def requests() -> list[tuple[str, dict[str, Any]]]:
    """Path and JSON body of each request of the page that has a body."""
    text = (DOCS / "extending.md").read_text()
    found = re.findall(r"\$URL(/\S+) [^\n]*-d '(\{.*?\})'", text, re.DOTALL)
    return [(path, json.loads(body)) for path, body in found]


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)


async def test_word_count_example_works_as_documented(
    operator: httpx.AsyncClient,
    editor: httpx.AsyncClient,
    conn: Connection,
    pool: Pool,
    dsn: str,
) -> None:
    (types, job_type), (jobs, job) = requests()
    file = (await upload(editor, {"a.txt": b"x"})).json()["files"][0]
    await finish_file_job(conn, UUID(file["jobId"]), chunks=["a fair claim", "of every tenant"])
    handlers = load_handlers(["word_count"])
    context = cast(Context, SimpleNamespace(pool=pool))

    async with running_worker(dsn, pool, handlers, context=context):
        registered = await operator.post(types, json=job_type)
        queued = await editor.post(
            jobs, json={**job, "knowledgeSourceId": file["knowledgeSourceId"]}
        )
        await until_status(conn, queued.json()["id"], "completed", "failed")

    done = (await editor.get(f"{jobs}/{queued.json()['id']}")).json()
    assert (registered.status_code, queued.status_code) == (201, 202)
    assert job["knowledgeSourceId"] == "SOURCE"
    assert (done["status"], done["result"]) == ("completed", {"documents": 1, "words": 4})
    source = (await editor.get(f"/api/knowledge-sources/{file['knowledgeSourceId']}")).json()
    assert source["status"] == "completed"


async def test_extension_handler_fails_a_job_with_its_own_code(
    operator: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection, pool: Pool, dsn: str
) -> None:
    (types, job_type), (jobs, _) = requests()
    context = cast(Context, SimpleNamespace(pool=pool))
    await operator.post(types, json=job_type)

    async with running_worker(dsn, pool, load_handlers(["word_count"]), context=context):
        queued = await editor.post(jobs, json={"type": "word_count", "payload": {}})
        await until_status(conn, queued.json()["id"], "completed", "failed")

    found = await editor.get(jobs, params={"errorCode": "source_missing"})
    assert [job["id"] for job in found.json()["items"]] == [queued.json()["id"]]


async def test_a_payload_that_breaks_the_examples_schema_is_refused(
    operator: httpx.AsyncClient, editor: httpx.AsyncClient
) -> None:
    (types, job_type), (jobs, _) = requests()
    await operator.post(types, json=job_type)

    answer = await editor.post(jobs, json={"type": "word_count", "payload": {"minLength": 0}})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "body.payload.minLength"
