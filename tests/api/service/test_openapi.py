"""The OpenAPI document: what it says of statuses, errors, roles and parameters."""

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any, Final

import httpx
import pytest
from fastapi import FastAPI
from websockets.exceptions import InvalidStatus

from api.main import create_app
from api.routes.uploads.preview import PreviewFields
from api.routes.uploads.uploads import UploadFields
from api.schema.json_model import Body
from api.schema.openapi import TAGS
from api.upload.form_fields import field_names
from ingest.runtime import Runtime
from tests.api.sockets import listening, socket

PROBLEM: Final = "application/problem+json"
OPEN: Final = {"healthz", "readyz", "get_metrics", "receive_firecrawl", "sign_in", "sign_out"}
COMMON: Final = {"401", "404", "422", "429", "503"}

Document = dict[str, Any]


@asynccontextmanager
async def never() -> AsyncIterator[Runtime]:
    raise AssertionError("the document needs no runtime")
    yield


@pytest.fixture(scope="module")
def document() -> Document:
    return create_app(never).openapi()


def operations(document: Document) -> Iterator[dict[str, Any]]:
    for path in document["paths"].values():
        yield from path.values()


def statuses(document: Document, method: str, path: str) -> set[str]:
    return set(document["paths"][path][method]["responses"])


def test_every_error_is_a_problem_with_a_schema(document: Document) -> None:
    errors = [
        (operation["operationId"], status, response["content"])
        for operation in operations(document)
        for status, response in operation["responses"].items()
        if status >= "400"
    ]

    assert len(errors) > 300
    assert {tuple(content) for _, _, content in errors} == {(PROBLEM,)}
    assert all("$ref" in content[PROBLEM]["schema"] for _, _, content in errors)
    assert not {"HTTPValidationError", "ValidationError"} & document["components"]["schemas"].keys()


@pytest.mark.parametrize(
    ("path", "file", "fields"),
    [("/upload/documents", "files", UploadFields), ("/api/preview", "file", PreviewFields)],
)
def test_a_form_is_documented_with_all_fields_that_it_takes(
    document: Document, path: str, file: str, fields: type[Body]
) -> None:
    form = document["paths"][path]["post"]["requestBody"]["content"]["multipart/form-data"]

    assert form["schema"]["properties"].keys() == {file, *field_names(fields)}


def test_a_422_names_its_fields_and_any_problem_has_a_code(document: Document) -> None:
    schemas = document["components"]["schemas"]

    assert {"type", "title", "status", "detail", "code"} == set(schemas["Problem"]["required"])
    assert "errors" in schemas["InvalidRequest"]["required"]
    assert "files" in schemas["RefusedUpload"]["properties"]


def test_openapi_references_resolve(document: Document) -> None:
    schemas = document["components"]["schemas"]

    missing = set(re.findall(r"'#/components/schemas/(\w+)'", str(document))) - schemas.keys()

    assert missing == set()


def test_authenticated_operations_document_401(document: Document) -> None:
    keyed = [operation for operation in operations(document) if "security" in operation]

    assert {operation["operationId"] for operation in operations(document)} == OPEN | {
        operation["operationId"] for operation in keyed
    }
    assert all(operation["responses"].keys() >= COMMON for operation in keyed)
    assert all(
        any(parameter["name"] == "X-Application-Id" for parameter in operation["parameters"])
        for operation in keyed
    )


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("get", "/api/jobs", COMMON | {"200"}),
        ("post", "/api/search", COMMON | {"200", "400", "403", "413"}),
        ("delete", "/api/jobs/{id}", COMMON | {"204", "403", "409"}),
        ("post", "/api/jobs", COMMON | {"202", "400", "403", "409", "413"}),
        ("post", "/upload/documents", COMMON | {"202", "400", "403", "409", "413", "415", "507"}),
        ("get", "/upload/url", COMMON | {"200", "202", "204", "403", "507"}),
        ("get", "/api/knowledge-sources/{id}/stream", COMMON | {"200", "204", "403"}),
        ("get", "/readyz", {"200", "422", "503"}),
        ("post", "/api/webhooks/firecrawl", {"200", "401", "413", "503"}),
    ],
)
def test_operations_name_what_they_can_answer_and_nothing_else(
    document: Document, method: str, path: str, expected: set[str]
) -> None:
    assert statuses(document, method, path) == expected


def test_non_json_answers_document_their_media_type(document: Document) -> None:
    types = {
        path: set(document["paths"][path]["get"]["responses"]["200"]["content"])
        for path in (
            "/api/batches/{id}/report",
            "/api/documents/{id}/text",
            "/api/knowledge-sources/{id}/stream",
            "/upload/url",
            "/metrics",
        )
    }

    assert types == {
        "/api/batches/{id}/report": {"application/json", "text/csv"},
        "/api/documents/{id}/text": {"text/markdown"},
        "/api/knowledge-sources/{id}/stream": {"text/event-stream"},
        "/upload/url": {"text/event-stream"},
        "/metrics": {"text/plain"},
    }


def test_operations_document_role_and_ticket_support(document: Document) -> None:
    needed = {
        operation["operationId"]: operation.get("security") for operation in operations(document)
    }

    def accepting(scheme: str) -> set[str]:
        return {name for name, ways in needed.items() for way in ways or () if scheme in way}

    assert needed["search_chunks"] == [{"Key": ["viewer"]}, {"Session": ["viewer"]}]
    assert needed["add_job"] == [{"Key": ["editor"]}, {"Session": ["editor"]}]
    assert needed["add_key"] == [{"Key": ["admin"]}, {"Session": ["admin"]}]
    assert needed["add_application"] == [{"Key": ["operator"]}, {"Session": ["operator"]}]
    assert accepting("Ticket") == {"follow_url", "stream_source"}
    # A GET that starts work is not for cookies, which any page can make a browser send.
    assert accepting("Key") - accepting("Session") == {"follow_url"}
    assert document["components"]["securitySchemes"].keys() == {"Key", "Ticket", "Session"}


def test_idempotent_operations_document_replayed_answers(document: Document) -> None:
    repeating = {
        operation["operationId"]
        for operation in operations(document)
        if any(
            "Idempotency-Replayed" in (r.get("headers") or {})
            for r in operation["responses"].values()
        )
    }

    assert {"upload_documents", "add_url", "add_job", "add_application"} <= repeating
    assert "check_upload" not in repeating


def test_operations_and_tags_have_unique_names(document: Document) -> None:
    ids = [operation["operationId"] for operation in operations(document)]
    used = {tag for operation in operations(document) for tag in operation["tags"]}

    assert len(ids) == len(set(ids))
    assert all(re.fullmatch("[a-z_]+", id) for id in ids)
    assert used == {tag["name"] for tag in TAGS}
    assert document["info"]["version"] == version("rag-ingest")


async def test_docs_page_makes_no_external_requests() -> None:
    app = create_app(never)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://ingest.test") as client:
        page = await client.get("/docs")
        parts = re.findall(r'(?:href|src)="([^"]+)"', page.text)
        answers = [await client.get(part) for part in parts]

    assert len(parts) >= 3
    assert all(part.startswith("/") for part in parts)
    assert {answer.status_code for answer in answers} == {200}


async def test_unknown_query_parameters_are_refused_except_on_provider_webhooks() -> None:
    app = create_app(never)
    transport = httpx.ASGITransport(app=app)
    accepted, seen = set(), 0
    async with httpx.AsyncClient(transport=transport, base_url="http://ingest.test") as client:
        for path, methods in app.openapi()["paths"].items():
            for method in set(methods) - {"parameters"}:
                if path == "/api/webhooks/firecrawl":
                    continue  # what is signed is never refused for what it says
                seen += 1
                answer = await client.request(method, f"{path}?limit=1&nonsense=1")
                fields = {error["field"] for error in answer.json()["errors"]}
                if (answer.status_code, fields - {"query.limit"}) != (422, {"query.nonsense"}):
                    accepted.add((method, path))

    assert seen > 50
    assert accepted == set()


async def test_a_ticket_is_a_parameter_only_where_browsers_connect() -> None:
    transport = httpx.ASGITransport(app=create_app(never))
    async with httpx.AsyncClient(transport=transport, base_url="http://ingest.test") as client:
        answer = await client.get("/api/jobs?ticket=x&status=failed")

    assert [error["field"] for error in answer.json()["errors"]] == ["query.ticket"]


async def test_socket_with_unknown_parameter_is_refused_without_using_its_ticket(
    app: FastAPI, viewer: httpx.AsyncClient
) -> None:
    ticket = (await viewer.post("/api/tickets")).json()["ticket"]
    async with listening(app) as address:
        with pytest.raises(InvalidStatus) as refused:
            async with socket(address, None, query=f"?ticket={ticket}&nonsense=1"):
                pass
        async with socket(address, None, query=f"?ticket={ticket}") as client:
            await client.ping()

    assert refused.value.response.status_code == 422
    assert b"query.nonsense" in refused.value.response.body


async def test_root_url_redirects_to_documentation(anonymous: httpx.AsyncClient) -> None:
    answer = await anonymous.get("/", follow_redirects=True)

    assert answer.status_code == 200
    assert answer.url.path == "/docs"
    assert "rag-ingest" in answer.text


def test_every_list_has_a_limit_and_a_cursor(document: Document) -> None:
    lists = {
        path: {parameter["name"] for parameter in methods["get"]["parameters"]}
        for path, methods in document["paths"].items()
        if "get" in methods and "/Page_" in str(methods["get"]["responses"].get("200", {}))
    }

    assert len(lists) >= 13
    assert {path for path, names in lists.items() if not names >= {"limit", "cursor"}} == set()
