"""Jobs of the type `greet`."""

from typing import Any

import httpx

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
SECRET = "the name that nobody else may read"


async def add_greet(operator: httpx.AsyncClient) -> None:
    """Register the type."""
    answer = await operator.post(
        "/api/job-types",
        json={"type": "greet", "payloadSchema": SCHEMA, "backoffBaseSeconds": 0.1},
    )
    assert answer.status_code == 201


async def enqueue(client: httpx.AsyncClient, **more: Any) -> httpx.Response:
    body = {"type": "greet", "payload": {"name": "Ada"}, **more}
    return await client.post("/api/jobs", json=body)
