"""What a process that only works answers, on a port of its own: its metrics and its health."""

from fastapi import FastAPI

from api.installation_state import Overviews
from api.routes import health, metrics
from ingest.runtime import Runtime


def create_worker_app(runtime: Runtime) -> FastAPI:
    """The application; the runtime is the caller's."""
    app = FastAPI(title="rag-ingest worker", openapi_url=None, redirect_slashes=False)
    app.state.runtime = runtime
    app.state.overviews = Overviews(runtime)
    app.include_router(health.worker_router)
    app.include_router(metrics.router)
    return app
