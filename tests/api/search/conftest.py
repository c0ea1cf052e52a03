"""The space of vectors of the API's model."""

import pytest

from ingest.runtime import Runtime
from tests.support.searchable_chunks import Space


@pytest.fixture
def space(runtime: Runtime) -> Space:
    return Space(id=runtime.model_id, dimension=runtime.model.dimension)
