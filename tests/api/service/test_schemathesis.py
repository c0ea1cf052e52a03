"""Requests made up from the OpenAPI document: none fails, and every answer is as it says.

INGEST_SCHEMATHESIS_EXAMPLES and INGEST_SCHEMATHESIS_SEED ask for more of them, and for others.

Streams are read only where they end: that of a source, because the source has ended, and that of a
page never begins, because all requests ask for a site. Who may ask is told elsewhere
(access/test_tenant_isolation.py): all requests have the operator's key and name no application.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import httpx
import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.errors import Unsatisfiable
from pydantic import SecretStr
from schemathesis import APIOperation, Case, GenerationMode, checks
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.specs.openapi import checks as of_documents

from harness.patience import PATIENCE
from ingest.postgres.database import Connection
from ingest.runtime import Runtime
from tests.api.conftest import OPERATOR_KEY, connect, serve
from tests.api.example_objects import JOB_TYPE, Ids, add_one_of_each, path_parameters

# Per operation, for requests that keep to the document and for those that do not.
EXAMPLES: Final = int(os.environ.get("INGEST_SCHEMATHESIS_EXAMPLES", "2"))
SEED: Final = int(os.environ.get("INGEST_SCHEMATHESIS_SEED", "0"))

CHECKS: Final = [
    checks.not_a_server_error,
    of_documents.status_code_conformance,
    of_documents.content_type_conformance,
    of_documents.response_headers_conformance,
    of_documents.response_schema_conformance,
    of_documents.negative_data_rejection,
]
Operation = APIOperation[Any, Any, Any, Any]
AnyCase = Case[Any]

# What is read comes before what removes it.
ORDER: Final = ("get", "put", "patch", "post", "delete")


@pytest.fixture
async def configured(runtime: Runtime) -> AsyncIterator[FastAPI]:
    """The application of an installation that takes events of providers."""
    changed = {"firecrawl_webhook_secret": SecretStr("a secret")}
    known = replace(runtime, settings=runtime.settings.model_copy(update=changed))
    async with serve(known) as app:
        yield app


@pytest.mark.parametrize("mode", GenerationMode)
async def test_generated_requests_get_documented_answers(
    configured: FastAPI, conn: Connection, mode: GenerationMode
) -> None:
    faults: list[str] = []
    async with connect(configured, OPERATOR_KEY) as client:
        known = await add_one_of_each(conn, client)
        for operation in operations_of(configured):
            for case in made_up(operation, mode, known):
                faults += await faults_of(client, case)

    assert not faults, "\n\n".join(faults)


def operations_of(app: FastAPI) -> Sequence[Operation]:
    """Those of the document, without what it says of keys."""
    document = json.loads(json.dumps(app.openapi()))
    for operation in all_operations(document):
        operation.pop("security", None)
        operation["parameters"] = [
            parameter
            for parameter in operation.get("parameters", ())
            if parameter["name"] != "X-Application-Id"
        ]
    schema = schemathesis.openapi.from_dict(document)
    found = [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]
    assert len(found) == len(list(all_operations(document)))
    return sorted(found, key=lambda operation: ORDER.index(operation.method.lower()))


def all_operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in document["paths"].values():
        yield from path.values()


def made_up(operation: Operation, mode: GenerationMode, known: Ids) -> Sequence[AnyCase]:
    """Requests for an operation; those that keep to the document name objects that exist."""
    is_sound = mode is GenerationMode.POSITIVE
    fixed = path_parameters(operation.path, known) if is_sound else None
    found: list[AnyCase] = []

    @seed(SEED)
    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @given(case=operation.as_strategy(mode, path_parameters=fixed))
    def collect(case: AnyCase) -> None:
        found.append(case)

    try:
        collect()
    except Unsatisfiable:
        assert not is_sound  # the operation takes nothing that could be wrong
    for case in found:
        make_sensible(case, is_sound=is_sound)
    return found


def make_sensible(case: AnyCase, *, is_sound: bool) -> None:
    """What the document cannot say: which types and addresses are good."""
    if case.operation.label == "GET /upload/url":
        case.query["crawlLinks"] = "true"
    if is_sound and isinstance(case.body, dict):
        if "url" in case.body:
            case.body["url"] = "https://made-up.example/"
        if case.operation.label == "POST /api/jobs":
            case.body["type"] = JOB_TYPE


async def faults_of(client: httpx.AsyncClient, case: AnyCase) -> Sequence[str]:
    async with asyncio.timeout(PATIENCE):  # a stream that does not end would end nothing else
        answer = await client.send(request_of(client, case))
    try:
        case.validate_response(answer, checks=CHECKS)
    except FailureGroup as group:
        return [str(group)]
    return []


def request_of(client: httpx.AsyncClient, case: AnyCase) -> httpx.Request:
    made = case.as_transport_kwargs(base_url="http://ingest.test")
    body: dict[str, Any] = {"json": made["json"]} if "json" in made else {}
    if made.get("data") is not None:
        body["content"] = made["data"]
    if made.get("files"):
        body["files"] = [(name, _part(*part)) for name, part in made["files"]]
    headers = [
        (name.encode("latin-1"), value.encode("latin-1")) for name, value in made["headers"].items()
    ]
    request = client.build_request(
        made["method"], made["url"], params=made["params"], headers=headers, **body
    )
    request.read()  # the checks look at what was sent
    return request


def _part(
    filename: str | None, value: object, *content_type: str
) -> tuple[str | bytes | None, ...]:
    return filename, value if isinstance(value, bytes) else str(value).encode(), *content_type
