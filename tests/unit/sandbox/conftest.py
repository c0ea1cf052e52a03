"""Parsers that do what a hostile file tells them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from harness.patience import AGES, PATIENCE
from ingest.sandbox import conversation
from ingest.sandbox.pool import ParserPool
from tests.unit.sandbox.groups import Group
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


@pytest.fixture
async def group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Group]:
    """However slow the machine, files are not taken from the process that they were sent to."""
    monkeypatch.setattr(conversation, "_PATIENCE_SECONDS", 3 * PATIENCE)
    group = Group(tmp_path)
    yield group
    await group.pool.close()
