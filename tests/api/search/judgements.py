"""Judgements by API: put, listed, exported."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import numpy as np

from api.cli.evaluation.questions import load_questions
from ingest.postgres.database import Connection
from ingest.search.evaluation.questions import Question
from tests.api.conftest import fake_vector
from tests.support.searchable_chunks import Space, add_document

TEXT = "# Oil\n\nThe pump is blue. Its oil is changed every 400 hours, by a person. It is heavy."
QUERY = "When is the oil changed?"


async def add(conn: Connection, application_id: UUID, space: Space, *texts: str) -> UUID:
    vectors = np.stack([fake_vector(text) for text in texts])
    return await add_document(conn, application_id, space, texts, vectors=vectors)


async def hits(client: httpx.AsyncClient, query: str = QUERY, **body: Any) -> list[dict[str, Any]]:
    answer = await client.post("/api/search", json={"query": query, "mode": "keyword", **body})
    found: list[dict[str, Any]] = answer.json()["hits"]
    return found


async def put(client: httpx.AsyncClient, chunk_id: str, **body: Any) -> dict[str, Any]:
    body = {"query": QUERY, "grade": 1, "chunkId": chunk_id, **body}
    answer = await client.put("/api/judgements", json=body)
    assert answer.status_code == 200, answer.text
    judged: dict[str, Any] = answer.json()
    return judged


async def listed(client: httpx.AsyncClient, **params: str) -> list[dict[str, Any]]:
    answer = await client.get("/api/judgements", params=params)
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


async def exported(
    client: httpx.AsyncClient, folder: Path, *formats: str, name: str = "default"
) -> Sequence[Question]:
    files = []
    for format in formats:
        answer = await client.get(f"/api/judgement-sets/{name}/export", params={"format": format})
        assert answer.status_code == 200, answer.text
        files.append(folder / format)
        files[-1].write_text(answer.text)
    return load_questions(files[0], files[1] if len(files) > 1 else None).questions
