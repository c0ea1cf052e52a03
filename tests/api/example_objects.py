"""One object of each kind, so that requests made up from the OpenAPI document find something."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import httpx

from ingest.postgres.database import Connection
from tests.api.helpers import finish_file_job, upload

# What POST /api/jobs takes.
JOB_TYPE = "made_up"

Ids = Mapping[str, Mapping[str, str]]
"""Path parameters by the beginning of a path."""


async def add_one_of_each(conn: Connection, operator: httpx.AsyncClient) -> Ids:
    """Through the front door, as far as it goes."""
    upload_answer = (await upload(operator, {"docs/a.txt": b"some words"})).json()
    source, job = upload_answer["knowledgeSourceIds"][0], upload_answer["files"][0]["jobId"]
    document = await finish_file_job(conn, UUID(job), chunks=["some words"])
    chunk = await (await conn.execute("select id from rag.chunks")).fetchone()
    assert chunk is not None
    application = await _added(operator, "/api/applications", {"name": "one"})
    key = await _added(
        operator, f"/api/applications/{application}/keys", {"name": "one", "role": "viewer"}
    )
    endpoint = await _added(
        operator,
        "/api/webhook-endpoints",
        {"url": "https://hooks.example/x", "events": ["job.failed"]},
    )
    judged = {"query": "words", "chunkId": str(chunk[0]), "grade": 1}
    judgement = await operator.put("/api/judgements", json=judged)
    delivery = await operator.post(f"/api/webhook-endpoints/{endpoint}/test")
    made = await operator.post("/api/job-types", json={"type": JOB_TYPE, "payloadSchema": {}})
    assert made.status_code == 201
    return {
        "/api/knowledge-source/": {"id": source},
        "/api/knowledge-sources/": {"id": source},
        "/api/documents/": {"id": str(document)},
        "/api/chunks/": {"id": str(chunk[0])},
        "/api/judgements/": {"id": judgement.json()["id"]},
        "/api/judgement-sets/": {"name": "default"},
        "/api/batches/": {"id": upload_answer["batchId"]},
        "/api/jobs/": {"id": job},
        "/api/job-types/": {"type": JOB_TYPE},
        "/api/applications/": {"id": application, "keyId": key},
        "/api/webhook-endpoints/": {"id": endpoint, "deliveryId": delivery.json()["deliveryId"]},
    }


def path_parameters(path: str, known: Ids) -> dict[str, str] | None:
    """The parameters of a path as they are known; None if it has none."""
    return next(
        (
            {name: value for name, value in values.items() if f"{{{name}}}" in path}
            for prefix, values in known.items()
            if path.startswith(f"{prefix}{{")
        ),
        None,
    )


async def _added(operator: httpx.AsyncClient, path: str, body: Mapping[str, Any]) -> str:
    answer = await operator.post(path, json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])
