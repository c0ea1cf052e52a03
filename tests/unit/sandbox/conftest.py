"""Parsers that do what a hostile file tells them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from harness.patience import AGES
from ingest.sandbox.pool import ParserPool
from tests.unit.sandbox.hostile_files import MIB, Files


@pytest.fixture
async def parser_pool() -> AsyncIterator[ParserPool]:
    parser_pool = ParserPool(
        size=2, timeout=AGES, memory=1024 * MIB, child="tests.servers.hostile_parser"
    )
    yield parser_pool
    await parser_pool.close()


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)
