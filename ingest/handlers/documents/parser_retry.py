"""A file whose parser died is given to another, once."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from ingest.errors import Permanent
from ingest.temporary_folders import empty

T = TypeVar("T")


async def twice_at_most(ask: Callable[[], Awaitable[T]], *, folder: Path) -> T:
    """A process may die of another's hunger; a file that crashes it does so again.

    `folder` is where the first may have left files.
    """
    try:
        return await ask()
    except Permanent as error:
        if error.code != "parser_crashed":
            raise
        empty(folder)
        return await ask()
