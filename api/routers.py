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
    judgements,
    me,
    pages,
    preview,
    provider,
    reembed,
    scaling,
    search,
    sources,
    streams,
    tickets,
    upload_check,
    upload_url,
    uploads,
    usage,
    webhook_endpoints,
    worker_config,
)
from api.routes.collections import collections
from api.routes.lists import bulk, job_lists, source_lists
from api.routes.overview import activity, overview, settings, workers

ROUTERS: Final[Sequence[APIRouter]] = (
    uploads.router,
    upload_check.router,
    upload_url.router,
    preview.router,
    bulk.router,
    source_lists.router,
    sources.router,
    collections.router,
    documents.router,
    pages.router,
    crawls.router,
    batches.router,
    job_lists.router,
    jobs.router,
    job_requests.router,
    job_types.router,
    streams.router,
    search.router,
    chunks.router,
    judgements.router,
    judgements.sets,
    tickets.router,
    me.router,
    applications.router,
    reembed.router,
    usage.router,
    overview.router,
    activity.router,
    workers.router,
    settings.router,
    worker_config.router,
    provider.router,
    scaling.router,
    webhook_endpoints.router,
    deliveries.router,
)
