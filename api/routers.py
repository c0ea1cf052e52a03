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
    crawls.router,
    batches.router,
    job_lists.router,
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
    webhook_endpoints.router,
    deliveries.router,
)
