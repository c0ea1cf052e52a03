"""The stand-in of Firecrawl, our client of it, and where its events arrive."""

from collections.abc import AsyncIterator, Iterator

import pytest

from ingest.providers.firecrawl.client import (
    FirecrawlClient,
)
from tests.servers.firecrawl_server import KEY, FirecrawlServer, firecrawl_server
from tests.unit.firecrawl.stand_in import Inbox, running


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with running(Inbox()) as inbox:
        yield inbox


@pytest.fixture
def firecrawl() -> Iterator[FirecrawlServer]:
    with firecrawl_server() as firecrawl:
        yield firecrawl


@pytest.fixture
async def client(firecrawl: FirecrawlServer) -> AsyncIterator[FirecrawlClient]:
    opened = FirecrawlClient(base_url=firecrawl.url, api_key=KEY)
    yield opened
    await opened.close()
