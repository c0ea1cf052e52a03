"""The HTTP server of a process that only runs a worker, on its own port: metrics and health."""

from fastapi import FastAPI

from api.installation_state import OverviewCache
from api.middleware.security_headers import add_security_headers
from api.routes.service import health, metrics
from ingest.runtime import Runtime


def create_worker_app(runtime: Runtime) -> FastAPI:
    """The application; the caller owns the runtime."""
    app = FastAPI(title="rag-ingest worker", openapi_url=None, redirect_slashes=False)
    app.state.runtime = runtime
    app.state.worker_processes = None
    app.state.overviews = OverviewCache(runtime)
    app.include_router(health.worker_router)
    app.include_router(metrics.router)
    add_security_headers(app)
    return app
