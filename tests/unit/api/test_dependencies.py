"""What a request needs is made in the event loop; a thread would cost more than the rest of it."""

import inspect
from collections.abc import Iterator
from typing import Any, cast

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from api.main import create_app


def calls(dependant: Dependant) -> Iterator[Any]:
    if dependant.call is not None:
        yield dependant.call
    for part in dependant.dependencies:
        yield from calls(part)


def test_no_route_or_dependency_is_run_by_a_thread() -> None:
    app = create_app(cast(Any, None))  # its lifespan is not entered
    routes = [route for route in app.routes if isinstance(route, APIRoute)]

    threaded = {
        (route.path, getattr(call, "__name__", repr(call)))
        for route in routes
        for call in calls(route.dependant)
        if not inspect.iscoroutinefunction(call)
        and not inspect.iscoroutinefunction(type(call).__call__)
    }

    assert len(routes) > 100
    assert threaded == set()
