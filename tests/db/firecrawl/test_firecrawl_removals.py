"""Whatever Firecrawl says in whatever order: no page is removed that may still be there.

A site of three pages was read before: the home page, a page that is always read again, and the page
in question, about which events and results now say all that they can say.
"""

import itertools
from collections.abc import Iterator
from uuid import UUID

import pytest

from ingest.firecrawl_inbox import Inbox
from ingest.postgres.database import Connection
from tests.db.firecrawl.removal_stage import Stage, may_be_removed
from tests.support.crawl.firecrawl_answers import (
    EVENTS,
    IN_PAIRS,
    POLLS,
)
from tests.support.crawl.firecrawl_runs import Root


@pytest.fixture
def stage(conn: Connection, inbox: Inbox, root: Root, application_id: UUID) -> Stage:
    return Stage(conn=conn, inbox=inbox, root=root, application_id=application_id)


def _orders() -> Iterator[tuple[str, ...]]:
    yield ()
    yield from ((name,) for name in EVENTS)
    yield from itertools.product(IN_PAIRS, repeat=2)


@pytest.mark.parametrize("eager", [True, False])
async def test_no_order_of_events_removes_a_page_that_may_still_be_there(
    stage: Stage, eager: bool
) -> None:
    polled = POLLS["without the page"]
    wrong, removed = [], 0

    for names in _orders():
        said = [EVENTS[name] for name in names]
        is_removed = await stage.is_removed(said, polled, eager=eager)
        removed += is_removed
        if is_removed and not may_be_removed(said, polled):
            wrong.append(names)

    assert wrong == []
    assert removed > 0


@pytest.mark.parametrize("name", [name for name, said in EVENTS.items() if said.spoils])
async def test_failed_scrapes_are_recorded_until_the_run_ends(stage: Stage, name: str) -> None:
    late = [EVENTS[name]]

    assert not await stage.is_removed([], POLLS["without the page"], late=late, eager=True)


@pytest.mark.parametrize(
    ("names", "poll"),
    [
        ((), "without the page"),
        (("404",), "without the page"),
        (("started", "completed"), "without the page"),
        ((), "gone"),
        (("raced",), "page raced"),
        (("without data", "unknown event"), "without the page"),
    ],
)
async def test_complete_run_removes_missing_and_unlinked_pages(
    stage: Stage, names: tuple[str, ...], poll: str
) -> None:
    said = [EVENTS[name] for name in names]

    assert await stage.is_removed(said, POLLS[poll], eager=True)
