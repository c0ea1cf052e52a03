"""GET /metrics, for Prometheus. No key is needed: nothing in it names an application."""

import psycopg
import structlog
from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST

from api.overview import Overview, Overviews, overviews_of
from api.queue_gauges import QueueGauges
from ingest.metrics import exposition

log = structlog.get_logger()
router = APIRouter(tags=["health"])


@router.get("/metrics", response_class=PlainTextResponse)
async def get_metrics(request: Request) -> PlainTextResponse:
    """What this process counts, and what the database knows if it answers."""
    text = exposition(QueueGauges(await _overview(overviews_of(request.app))))
    return PlainTextResponse(text, media_type=CONTENT_TYPE_LATEST)


async def _overview(overviews: Overviews) -> Overview | None:
    try:
        return await overviews.get()
    except psycopg.Error as error:
        log.warning("metrics.database_lost", error=type(error).__name__)
        return None
