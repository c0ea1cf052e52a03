"""Handlers by name. A new job type is one file with `@handler(...)` and a row in rag.job_types."""

from collections.abc import Awaitable, Callable, Sequence

from ingest.handlers.context import Context, Outcome, Progress
from ingest.settings.extensions import import_extension
from ingest.store.queue.jobs import ClaimedJob

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


def load_handlers(modules: Sequence[str] = ()) -> dict[str, Handler]:
    """Load all handlers of this package and of `modules`, by name.

    Importing a module registers its handlers. Raises SetupError if one of `modules` cannot be
    imported or registers a name that is already taken.
    """
    from importlib import import_module
    from pkgutil import walk_packages

    import ingest.handlers

    for module in walk_packages(ingest.handlers.__path__, "ingest.handlers."):
        import_module(module.name)
    for name in modules:
        import_extension(name, setting="INGEST_HANDLERS")
    return dict(HANDLERS)
