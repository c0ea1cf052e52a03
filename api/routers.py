"""The routers of all routes that need a key."""

from collections.abc import Sequence
from typing import Final

from api.authenticated_route import KeyedRouter
from api.routes.access import applications, me, tickets
from api.routes.crawls import crawls, schedules
from api.routes.installation import (
    activity,
    overview,
    provider,
    reembed,
    scaling,
    settings,
    usage,
    worker_config,
    workers,
)
from api.routes.jobs import job_lists, job_requests, job_types, jobs
from api.routes.search import evaluation, judgements, search
from api.routes.sources import (
    bulk,
    chunks,
    collections,
    documents,
    pages,
    source_lists,
    sources,
    streams,
)
from api.routes.uploads import batches, preview, upload_check, upload_url, uploads, url_check
from api.routes.webhooks import deliveries, webhook_endpoints

ROUTERS: Final[Sequence[KeyedRouter]] = (
    uploads.router,
    upload_check.router,
    upload_url.router,
    url_check.router,
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
    evaluation.router,
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
    schedules.router,
    webhook_endpoints.router,
    deliveries.router,
)
