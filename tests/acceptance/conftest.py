"""Processes under test, and what they need around them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.database import Database
from harness.service import Service, services
from tests.acceptance.openai_server import EmbeddingServer, embedding_server


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A Postgres started by the test: it outlives killed processes and can be restarted."""
    database = Database(tmp_path / "server")
    try:
        yield database
    finally:
        database.close()


@pytest.fixture
def openai() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


@pytest.fixture
def start(tmp_path: Path, database: Database) -> Iterator[Callable[..., Service]]:
    """Start a process on the test's Postgres: `start("worker", SETTING="value")`."""
    data = tmp_path / "data"
    data.mkdir()
    with services(data=data, env={"DATABASE_URL": database.service_dsn}) as starter:
        yield starter
