"""The HTTP application: lifespan, routers, and the status of each error."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import psycopg
import structlog
from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi_offline import FastAPIOffline
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from api.allowed_methods import HeadOfProbes, allowed_methods
from api.dashboard.pages import STATIC, add_start_page
from api.installation_state import OverviewCache
from api.live import websocket
from api.live.hub import Hub
from api.middleware.backpressure import ConcurrencyLimit, MinimumBodyRate
from api.middleware.failed_keys import FailedKeys
from api.middleware.in_use import InUse
from api.middleware.rate_limits import RequestLimits
from api.middleware.request_metrics import RequestMetrics
from api.middleware.root_path import RootPath
from api.middleware.security_headers import add_security_headers
from api.problems import (
    BodyTooLarge,
    FieldRejected,
    Forbidden,
    InsufficientStorage,
    Malformed,
    NotConfigured,
    RateLimited,
    Unauthorized,
    UnsupportedMedia,
    is_broken_json,
    problem,
    retry_after,
    shorten,
    validation_problem,
)
from api.routers import ROUTERS
from api.routes.access import session
from api.routes.crawls import firecrawl_webhook
from api.routes.service import health, metrics
from api.routes.service.api_docs import add_docs_page
from api.routes.uploads import url_check
from api.schema import openapi
from api.schema.query import reject_unknown_query
from api.upload.incoming import Incoming
from api.worker_processes.supervisor import WorkerProcesses
from ingest.errors import (
    BlobMissing,
    Conflict,
    IngestError,
    NotFound,
    QuotaExceeded,
    QuotaInUse,
    Rejected,
    SearchTimeout,
    Transient,
)
from ingest.observability.metrics import quota_refused, statement_timed_out
from ingest.postgres.database import LimitedRoleMissing, is_database_unavailable, is_timed_out
from ingest.runtime import Runtime

log = structlog.get_logger()

OpenRuntime = Callable[[], AbstractAsyncContextManager[Runtime]]

# The only place that maps errors to status codes.
_STATUS_OF_ERROR: Final[dict[type[IngestError], int]] = {
    Malformed: 400,
    Unauthorized: 401,
    Forbidden: 403,
    QuotaExceeded: 403,
    NotFound: 404,
    Conflict: 409,
    BlobMissing: 410,
    BodyTooLarge: 413,
    UnsupportedMedia: 415,
    Rejected: 422,
    RateLimited: 429,
    QuotaInUse: 429,
    SearchTimeout: 503,
    Transient: 503,
    NotConfigured: 503,
    LimitedRoleMissing: 503,
    InsufficientStorage: 507,
}
_RETRY_SOON: Final = {"Retry-After": "5"}
_CODE_OF_STATUS: Final = {
    400: "malformed_body",
    404: "not_found",
    405: "method_not_allowed",
    408: "request_timeout",
    413: "too_large",
    503: "overloaded",
}

# Requests in flight per process: with bodies of a megabyte each, half a gigabyte of memory.
_MAX_REQUESTS: Final = 500
# Monitoring must work at peak load.
_PROBES: Final = ("/healthz", "/readyz", "/metrics")
_HEAD_PATHS: Final = (*_PROBES, "/", "/docs")


def create_app(
    open_runtime: OpenRuntime,
    *,
    has_docs: bool = True,
    dashboard: Path | None = STATIC,
    root_path: str = "",
    worker_processes: WorkerProcesses | None = None,
) -> FastAPI:
    """Create the application; the runtime lives as long as the server's lifespan.

    `has_docs`: whether it serves /docs and /openapi.json. `dashboard`: the folder with the built
    files of the dashboard; None: there is none. `root_path`: the path below which a proxy publishes
    the service. `worker_processes`: those of this process, whose metrics and health it shows.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_runtime() as runtime:
            app.state.runtime = runtime
            app.state.request_limits = RequestLimits(runtime.settings.requests_per_minute)
            app.state.url_check_limits = RequestLimits(
                url_check.PER_MINUTE, sentence="an application may check {} addresses per minute"
            )
            app.state.failed_keys = FailedKeys()
            app.state.in_use = InUse(runtime.settings.key_limits)
            app.state.incoming = Incoming(runtime.disk)
            app.state.webhook_bodies = asyncio.Semaphore(firecrawl_webhook.MAX_CONCURRENT_BODIES)
            app.state.overviews = OverviewCache(runtime)
            app.state.worker_processes = worker_processes
            app.state.hub = hub = Hub(runtime.pool, runtime.listener)
            hub.start()
            try:
                yield
            finally:
                await hub.close()

    # The other one also serves the files of the page /docs, which FastAPI takes from a CDN.
    app = (FastAPIOffline if has_docs else FastAPI)(
        title="rag-ingest",
        version=version("rag-ingest"),
        description=openapi.DESCRIPTION,
        openapi_tags=openapi.TAGS,
        generate_unique_id_function=openapi.operation_id,
        openapi_url="/openapi.json" if has_docs else None,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    for keyed in ROUTERS:
        app.router.routes.extend(keyed.routes)
    strict = [Depends(reject_unknown_query)]
    for router in (health.router, metrics.router):
        app.include_router(router, dependencies=strict, responses=openapi.OPEN)
    app.include_router(session.router)
    # Without `strict`: a signed webhook is never rejected for its content.
    app.include_router(firecrawl_webhook.router)
    app.include_router(websocket.router)
    if has_docs:
        add_docs_page(app)
    add_start_page(app, dashboard, has_docs=has_docs)
    openapi.install_document(app, routers=ROUTERS)
    # The last one is the outermost: it also counts requests that the inner ones refuse.
    app.add_middleware(MinimumBodyRate)
    app.add_middleware(ConcurrencyLimit, max_requests=_MAX_REQUESTS, exempt=_PROBES)
    app.add_middleware(RequestMetrics)
    app.add_middleware(HeadOfProbes, paths=_HEAD_PATHS)
    if root_path:
        app.add_middleware(RootPath, prefix=root_path)
    _handle_errors(app)
    add_security_headers(app)
    return app


def _handle_errors(app: FastAPI) -> None:
    app.add_exception_handler(IngestError, _ingest_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_exception)
    app.add_exception_handler(ClientDisconnect, _client_disconnected)
    app.add_exception_handler(psycopg.Error, _database_error)
    app.add_exception_handler(Exception, _internal_error)


def _ingest_error(request: Request, error: Exception) -> Response:
    status = next(
        (_STATUS_OF_ERROR[kind] for kind in type(error).__mro__ if kind in _STATUS_OF_ERROR), None
    )
    if status is None:
        return _internal_error(request, error)
    code = getattr(error, "code", "not_found" if status == 404 else "invalid_request")
    if isinstance(error, Transient) and error.code == InsufficientStorage.code:
        status = 507
    extra: dict[str, Any] = {}
    if isinstance(error, FieldRejected):
        extra["errors"] = error.errors
    if isinstance(error, QuotaExceeded):
        quota_refused(error.facts["quota"])
        extra |= error.facts
    return problem(status, code=code, detail=str(error), headers=_headers(error), **extra)


def _headers(error: Exception) -> dict[str, str] | None:
    if isinstance(error, Unauthorized):
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(error, Transient | RateLimited | QuotaExceeded) and error.retry_after is not None:
        return retry_after(error.retry_after)
    return None


def _validation_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 registered for this type
    if is_broken_json(error):
        return problem(400, code=Malformed.code, detail="the body is not JSON")
    return validation_problem(error.errors())


def _http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 registered for this type
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        return _method_not_allowed(request, error)
    code = _CODE_OF_STATUS.get(error.status_code, "invalid_request")
    return problem(error.status_code, code=code, detail=error.detail, headers=error.headers)


def _method_not_allowed(request: Request, error: HTTPException) -> Response:
    allowed = allowed_methods(request, head_paths=_HEAD_PATHS)
    headers = {"Allow": allowed} if allowed else error.headers
    if request.method == "OPTIONS":
        return Response(status_code=HTTPStatus.NO_CONTENT, headers=headers)
    detail = f"this path has no method {shorten(request.method, 20)}"
    return problem(405, code="method_not_allowed", detail=detail, headers=headers)


def _client_disconnected(_: Request, error: Exception) -> Response:
    # The client is gone and will not read this.
    return problem(400, code="client_disconnected", detail="the connection was closed early")


def _database_error(request: Request, error: Exception) -> Response:
    kind = {"path": request.url.path, "error": type(error).__name__}
    if is_timed_out(error):
        statement_timed_out("request")
        log.warning("api.statement_timed_out", **kind)
        detail = "the request took too long and was cancelled; try again"
        return problem(503, code="database_timeout", detail=detail, headers=_RETRY_SOON)
    if is_database_unavailable(error):
        log.error("api.database_unavailable", **kind)
        detail = "the database is not available; try again"
        return problem(503, code="database_unavailable", detail=detail, headers=_RETRY_SOON)
    return _internal_error(request, error)


def _internal_error(request: Request, error: Exception) -> Response:
    log.error("api.unexpected_error", path=request.url.path, method=request.method, exc_info=error)
    return problem(500, code="internal", detail="internal error; the log has the details")
