"""Whatever Firecrawl's results say of a page: it is not removed while it may still be there."""

from uuid import UUID

import pytest

from ingest.firecrawl_inbox import Inbox
from ingest.postgres.database import Connection
from tests.db.firecrawl.removal_stage import Stage, may_be_removed
from tests.support.crawl.firecrawl_answers import (
    EVENTS,
    POLLS,
)
from tests.support.crawl.firecrawl_runs import Root


@pytest.fixture
def stage(conn: Connection, inbox: Inbox, root: Root, application_id: UUID) -> Stage:
    return Stage(conn=conn, inbox=inbox, root=root, application_id=application_id)


@pytest.mark.parametrize("poll", list(POLLS))
async def test_no_result_removes_a_page_that_may_still_be_there(stage: Stage, poll: str) -> None:
    polled = POLLS[poll]

    removed = {
        name: await stage.is_removed([said], polled, eager=True) for name, said in EVENTS.items()
    }

    assert {name for name, is_removed in removed.items() if is_removed} <= {
        name for name, said in EVENTS.items() if may_be_removed([said], polled)
    }
