"""Events of providers: verified, stored unchanged, acknowledged at once.

The inbox processes them later. A signed body is never rejected for its content, because a provider
would send it again, or never.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from fastapi import APIRouter, Request
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from api.dependencies import RuntimeDep
from api.problems import BodyTooLarge, NotConfigured, Unauthorized
from api.schema.json_model import storable
from api.schema.openapi import problems
from api.upload.spool import Spool
from ingest.postgres.database import transaction
from ingest.providers.firecrawl.signature import Signature
from ingest.store.crawl import webhook_events
from ingest.store.crawl.webhook_events import NewWebhookEvent
from ingest.store.view import View

router = APIRouter(prefix="/api/webhooks", tags=["webhooks"])

FIRECRAWL_PATH: Final = "/api/webhooks/firecrawl"

_SIGNATURE: Final = b"x-firecrawl-signature"
_MAX_BODY_BYTES: Final = 64 * 1024 * 1024
# A signature can be checked only after the body was read, so few bodies are read at a time.
MAX_CONCURRENT_BODIES: Final = 16
_MAX_SECONDS: Final = 60.0
_STORED_HEADERS: Final = ("content-type", "user-agent")
# Characters stored of each header.
_MAX_HEADER_CHARACTERS: Final = 200


class Received(View):
    received: bool


@router.post(
    "/firecrawl",
    responses=problems(401, 413, 503),
    openapi_extra={"requestBody": {"content": {"application/json": {}}, "required": True}},
)
async def receive_firecrawl(request: Request, runtime: RuntimeDep) -> Received:
    """Accept an event of Firecrawl: any body with a valid `X-Firecrawl-Signature`.

    Sending the same body again changes nothing.
    """
    secrets = runtime.settings.firecrawl_secrets
    if not secrets:
        raise NotConfigured(
            "FIRECRAWL_WEBHOOK_SECRET is not set: events cannot be verified",
            code="webhooks_not_configured",
        )
    given = _signature_of(request)
    signature = Signature(secrets)
    async with Spool(runtime.blobs) as spool:
        async with _body_slot(request):
            await _receive(request, spool, signature)
        if not signature.matches(given):
            raise _not_signed()
        await spool.commit()
        event = NewWebhookEvent(
            provider="firecrawl",
            dedupe_key=spool.sha256,
            size_bytes=spool.size,
            body=spool.body,
            blob_key=spool.blob_key,
            headers=_stored_headers(request.headers),
        )
        async with transaction(runtime.pool) as conn:
            if await webhook_events.add(conn, event) is not None:
                spool.keep()
    return Received(received=True)


@asynccontextmanager
async def _body_slot(request: Request) -> AsyncIterator[None]:
    turns: asyncio.Semaphore = request.app.state.webhook_bodies
    if turns.locked():
        raise HTTPException(503, "too many events at the same time", headers={"Retry-After": "5"})
    try:
        async with turns, asyncio.timeout(_MAX_SECONDS):
            yield
    except TimeoutError:
        raise HTTPException(408, "the body arrives too slowly") from None


def _signature_of(request: Request) -> bytes:
    """Return the raw signature header (any bytes).

    Raises Unauthorized, before the body is read, if the header is missing or repeated.
    """
    given: list[bytes] = [value for name, value in request.headers.raw if name == _SIGNATURE]
    if len(given) != 1:
        raise _not_signed()
    return given[0]


async def _receive(request: Request, spool: Spool, signature: Signature) -> None:
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > _MAX_BODY_BYTES:
        raise _too_large()
    async for piece in request.stream():
        if spool.size + len(piece) > _MAX_BODY_BYTES:
            raise _too_large()
        signature.feed(piece)
        await spool.write(piece)


def _not_signed() -> Unauthorized:
    return Unauthorized("the signature is missing or wrong", code="invalid_signature")


def _too_large() -> BodyTooLarge:
    return BodyTooLarge(f"the body is larger than {_MAX_BODY_BYTES} bytes")


def _stored_headers(headers: Headers) -> dict[str, str]:
    return {
        name: storable(headers[name])[:_MAX_HEADER_CHARACTERS]
        for name in _STORED_HEADERS
        if name in headers
    }
