"""GET /metrics, for Prometheus. Needs no key: no metric names an application."""

import psycopg
import structlog
from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST

from api.installation_state import OverviewCache, overview_cache_of
from api.queue_gauges import QueueGauges
from ingest.observability import metrics
from ingest.observability.metrics import exposition
from ingest.postgres.database import is_timed_out

log = structlog.get_logger()
router = APIRouter(tags=["health"])


@router.get("/metrics", response_class=PlainTextResponse)
async def get_metrics(request: Request) -> PlainTextResponse:
    """Counters of this process, and gauges from the database if it responds."""
    text = exposition(await _gauges(overview_cache_of(request.app)))
    return PlainTextResponse(text, media_type=CONTENT_TYPE_LATEST)


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
