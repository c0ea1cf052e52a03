"""An OpenAI-compatible endpoint and its client."""

from collections.abc import AsyncIterator, Iterator

import pytest
import respx

from ingest.providers.embedders.openai import OpenAIEmbedder
from tests.unit.embedding.openai_embeddings import KEY, MODEL, URL


@pytest.fixture
async def openai_embedder() -> AsyncIterator[OpenAIEmbedder]:
    opened = OpenAIEmbedder(MODEL, api_key=KEY, base_url=URL, dimensions=None)
    yield opened
    await opened.close()


@pytest.fixture
def endpoint() -> Iterator[respx.Route]:
    with respx.mock(base_url=URL) as router:
        yield router.post("/embeddings")
