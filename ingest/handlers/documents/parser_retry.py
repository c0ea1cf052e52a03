"""Retry a file once in another parser process if the first one died."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from ingest.errors import Permanent

T = TypeVar("T")


async def retry_crashed_parser_once(ask: Callable[[], Awaitable[T]]) -> T:
    """Retry once: a parser may be OOM-killed because of a neighbour. A bad file crashes it again.

    The first process leaves no files behind: they are in its scratch folder.
    """
    try:
        return await ask()
    except Permanent as error:
        if error.code != "parser_crashed":
            raise
        return await ask()
