"""Handlers by name. A new job type is one file with `@handler(...)` and a row in rag.job_types."""

from collections.abc import Awaitable, Callable

from ingest.handlers.context import Context, Outcome, Progress
from ingest.store.jobs import ClaimedJob

Handler = Callable[[ClaimedJob, Context, Progress], Awaitable[Outcome]]
"""Does slow work without a connection. Raises Permanent, Transient or Snooze (errors.py)."""

HANDLERS: dict[str, Handler] = {}


def handler(name: str) -> Callable[[Handler], Handler]:
    """Register a handler under the name that `rag.job_types.handler` refers to."""

    def register(function: Handler) -> Handler:
        if name in HANDLERS:
            raise ValueError(f"two handlers are named {name!r}")
        HANDLERS[name] = function
        return function

    return register


def load_handlers() -> dict[str, Handler]:
    """All handlers of this package, by name: importing a module registers what it defines."""
    from importlib import import_module
    from pkgutil import iter_modules

    import ingest.handlers

    for module in iter_modules(ingest.handlers.__path__, "ingest.handlers."):
        import_module(module.name)
    return dict(HANDLERS)
