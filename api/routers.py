"""The routers of all routes that need a key."""

from collections.abc import Sequence
from typing import Final

from fastapi import APIRouter

from api.routes import (
    applications,
    batches,
    chunks,
    crawls,
    deliveries,
    documents,
    job_requests,
    job_types,
    jobs,
    me,
    preview,
    provider,
    reembed,
    scaling,
    schedules,
    search,
    sources,
    streams,
    tickets,
    upload_check,
    upload_url,
    uploads,
    url_check,
    usage,
    webhook_endpoints,
    worker_config,
)
from api.routes.collections import collections

ROUTERS: Final[Sequence[APIRouter]] = (
    uploads.router,
    upload_check.router,
    upload_url.router,
    url_check.router,
    preview.router,
    sources.router,
    collections.router,
    documents.router,
    crawls.router,
    batches.router,
    jobs.router,
    job_requests.router,
    job_types.router,
    streams.router,
    search.router,
    chunks.router,
    tickets.router,
    me.router,
    applications.router,
    reembed.router,
    usage.router,
    worker_config.router,
    provider.router,
    scaling.router,
    schedules.router,
    webhook_endpoints.router,
    deliveries.router,
)
