"""Retry a file once in another parser process if the first one died."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from ingest.errors import Permanent
from ingest.temporary_folders import empty

T = TypeVar("T")


async def retry_crashed_parser_once(ask: Callable[[], Awaitable[T]], *, folder: Path) -> T:
    """Retry once: a parser may be OOM-killed because of a neighbour. A bad file crashes it again.

    `folder`: where the first process may have left files; it is emptied before the retry.
    """
    try:
        return await ask()
    except Permanent as error:
        if error.code != "parser_crashed":
            raise
        empty(folder)
        return await ask()
