"""GET /metrics, for Prometheus. No metric names an application; a token is optional."""

import hmac

import psycopg
import structlog
from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from fastapi.security.utils import get_authorization_scheme_param
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import SecretStr

from api.dependencies import RuntimeDep
from api.installation_state import OverviewCache, overview_cache_of
from api.problems import problem
from api.queue_gauges import QueueGauges
from api.schema.openapi import problems
from api.worker_processes.supervisor import WorkerProcesses
from ingest.observability import metrics
from ingest.observability.merged_metrics import MergedMetrics
from ingest.observability.metrics import REGISTRY, exposition
from ingest.postgres.database import is_timed_out

log = structlog.get_logger()
router = APIRouter(tags=["health"])


@router.get("/metrics", response_class=PlainTextResponse, responses=problems(401))
async def get_metrics(request: Request, runtime: RuntimeDep) -> Response:
    """Counters of this process and its worker processes, and gauges from the database if it
    responds.

    Needs INGEST_METRICS_TOKEN as bearer token, if that is set.
    """
    if not _is_allowed(request, runtime.settings.metrics_token):
        detail = "send the metrics token as `Authorization: Bearer <token>`"
        headers = {"WWW-Authenticate": "Bearer"}
        return problem(401, code="unauthorized", detail=detail, headers=headers)
    processes: WorkerProcesses | None = request.app.state.worker_processes
    gauges = await _gauges(overview_cache_of(request.app))
    text = exposition(REGISTRY if processes is None else await _of_all(processes), gauges)
    return PlainTextResponse(text, media_type=CONTENT_TYPE_LATEST)


async def _of_all(processes: WorkerProcesses) -> MergedMetrics:
    merged = MergedMetrics()
    merged.add(REGISTRY.collect())
    await processes.add_metrics(merged)
    return merged


def _is_allowed(request: Request, token: SecretStr | None) -> bool:
    if token is None:
        return True
    scheme, given = get_authorization_scheme_param(request.headers.get("authorization"))
    is_right = hmac.compare_digest(given.encode(), token.get_secret_value().encode())
    return scheme.lower() == "bearer" and is_right


async def _gauges(overviews: OverviewCache) -> QueueGauges:
    try:
        return QueueGauges(await overviews.get())
    except psycopg.Error as error:
        if is_timed_out(error):
            metrics.statement_timed_out("metrics")
            log.warning("metrics.timed_out")
        else:
            log.warning("metrics.database_unavailable", error=type(error).__name__)
        return QueueGauges(None, is_up=is_timed_out(error))
