"""Who is asking is settled before a byte of the body is read; then the body has its limit."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI
from starlette.types import Message

from api.main import create_app
from ingest.model import Role
from tests.api.conftest import MakeKey
from tests.api.helpers import upload

# Pages of this origin may use the last one without a key: test_cross_site.py.
OPEN: Final = {"/healthz", "/readyz", "/metrics", "/api/session"}
MIB: Final = 1024 * 1024


def never() -> Any:
    raise AssertionError("the document needs no runtime")


def operations(app: FastAPI) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Method, path with made-up ids, and description of each operation of the API."""
    for template, methods in app.openapi()["paths"].items():
        path = template.format(
            id=uuid4(), keyId=uuid4(), deliveryId=uuid4(), type="file", name="none", page=1
        )
        for method, operation in methods.items():
            if path not in OPEN:
                yield method.upper(), path, operation


async def answer_without_reading(
    app: FastAPI, method: str, path: str, **headers: str
) -> tuple[int, str]:
    """Status and code of the answer to a request with a body that must not be asked for."""
    sent: list[Message] = []

    async def receive() -> Message:
        raise AssertionError(f"{method} {path} reads its body")

    async def send(message: Message) -> None:
        sent.append(message)

    given = {"content-type": "application/json", "transfer-encoding": "chunked", **headers}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        "client": ("192.0.2.1", 1),
        "server": ("ingest.test", 80),
    }
    await app(scope, receive, send)
    body = b"".join(message.get("body", b"") for message in sent)
    return sent[0]["status"], json.loads(body)["code"]


@pytest.mark.parametrize(
    "content_type", ["application/json", "multipart/form-data; boundary=b", "text/plain"]
)
async def test_missing_key_is_refused_before_the_body_is_read(
    app: FastAPI, content_type: str
) -> None:
    seen = {
        (method, path): await answer_without_reading(
            app, method, path, **{"content-type": content_type}
        )
        for method, path, _ in operations(app)
    }

    assert len(seen) > 60
    firecrawl = seen.pop(("POST", "/api/webhooks/firecrawl"))
    assert firecrawl == (503, "webhooks_not_configured")
    assert set(seen.values()) == {(401, "unauthorized")}


async def test_wrong_key_is_refused_before_the_body_is_read(app: FastAPI) -> None:
    wrong = {"authorization": "Bearer rk_wrong", "content-length": str(100 * MIB)}
    seen = [
        await answer_without_reading(app, method, path, **wrong)
        for method, path, operation in operations(app)
        if "requestBody" in operation and "firecrawl" not in path
    ]

    assert len(seen) > 10
    assert set(seen) == {(401, "unauthorized")}


@pytest.mark.parametrize("role", ["viewer", "editor", "admin"])
async def test_too_low_role_is_refused_before_the_body_is_read(
    app: FastAPI, application_id: UUID, make_key: MakeKey, role: Role
) -> None:
    ranks = ("viewer", "editor", "admin", "operator")
    headers = {"authorization": f"Bearer {await make_key(application_id, role)}"}
    seen = []
    for method, path, operation in operations(app):
        [needed] = operation.get("security", [{"Key": ["viewer"]}])[0]["Key"]
        if ranks.index(needed) > ranks.index(role):
            seen.append(await answer_without_reading(app, method, path, **headers))

    assert len(seen) >= 5
    assert set(seen) == {(403, "forbidden")}


def test_openapi_lists_every_operation_that_needs_a_key() -> None:
    unkeyed = [
        path for _, path, operation in operations(create_app(never)) if "security" not in operation
    ]

    assert unkeyed == ["/api/webhooks/firecrawl"]


async def test_a_body_that_is_announced_as_too_large_is_not_read(
    app: FastAPI, application_id: UUID, make_key: MakeKey
) -> None:
    headers = {
        "authorization": f"Bearer {await make_key(application_id, 'viewer')}",
        "content-length": str(MIB + 1),
    }

    assert await answer_without_reading(app, "POST", "/api/search", **headers) == (413, "too_large")


async def spaces(count: int) -> AsyncIterator[bytes]:
    yield b'{"query": "x"'
    while count > 0:
        yield b" " * min(count, 65536)
        count -= 65536
    yield b"}"


async def test_body_size_limit_applies_while_streaming(editor: httpx.AsyncClient) -> None:
    """Chunked, so no length is announced."""
    headers = {"Content-Type": "application/json"}
    fits = await editor.post("/api/search", content=spaces(MIB - 100_000), headers=headers)
    refused = [
        await editor.post(path, content=spaces(MIB), headers=headers)
        for path in ("/api/search", "/upload/url", "/api/jobs")
    ]

    assert fits.status_code == 200
    assert {(answer.status_code, answer.json()["code"]) for answer in refused} == {
        (413, "too_large")
    }


async def test_body_longer_than_content_length_is_refused(
    editor: httpx.AsyncClient,
) -> None:
    headers = {"Content-Type": "application/json", "Content-Length": "20"}
    answer = await editor.post("/api/search", content=spaces(MIB), headers=headers)

    assert answer.status_code == 413


async def test_upload_check_accepts_ten_thousand_digests(
    editor: httpx.AsyncClient,
) -> None:
    files = [{"path": f"{'d' * 300}/{n}.txt", "sha256": "0" * 64} for n in range(10_000)]
    answer = await editor.post("/upload/check", json={"files": files})
    headers = {"Content-Type": "application/json"}
    refused = await editor.post("/upload/check", content=spaces(8 * MIB), headers=headers)

    assert (answer.status_code, answer.json()) == (200, {"known": []})
    assert refused.status_code == 413


BOMBS: Final = {
    "deep": b'{"a":' * 5000 + b"1" + b"}" * 5000,
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "deep enough": b'{"metadata":' + b"[" * 900 + b"]" * 900 + b"}",
    "an integer": b'{"query": %b}' % (b"9" * 5000),
    "a long integer": b'{"payload": {"x": %b}}' % (b"9" * 400),
    "a real": b'{"minScore": 1e999}',
    "a name twice": b'{"query": "x", "query": "y"}',
    "a name twice inside": b'{"metadata": [{"a": 1, "a": 2}]}',
}


@pytest.mark.parametrize("bomb", BOMBS)
async def test_hostile_json_is_a_422_on_every_route(
    app: FastAPI, operator: httpx.AsyncClient, bomb: str
) -> None:
    headers = {"Content-Type": "application/json", "Idempotency-Key": "k"}
    seen = {
        path: (await operator.request(method, path, content=BOMBS[bomb], headers=headers))
        for method, path, operation in operations(app)
        if "application/json" in operation.get("requestBody", {}).get("content", {})
        and "firecrawl" not in path
    }

    assert len(seen) >= 10
    assert {(answer.status_code, answer.json()["code"]) for answer in seen.values()} == {
        (422, "invalid_request")
    }


@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize("field", ["metadata", "chunking"])
async def test_hostile_json_in_a_field_of_an_upload_is_a_422(
    editor: httpx.AsyncClient, bomb: str, field: str
) -> None:
    text = BOMBS[bomb].decode()[: 60 * 1024]
    answer = await upload(editor, {"x.txt": b"x"}, **{field: text})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == f"body.{field}"
