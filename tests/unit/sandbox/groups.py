"""Files of one application that wait together."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from uuid import UUID, uuid4

from harness.patience import AGES, PATIENCE
from ingest.errors import Permanent, Transient
from ingest.sandbox.jail import Confinement
from ingest.sandbox.messages import Parsed
from ingest.sandbox.pool import ParserPool
from tests.unit.sandbox.hostile_files import MIB, REQUEST


class Group:
    """Files of one application, all waiting before the first of them is read."""

    def __init__(self, folder: Path, *, size: int = 1) -> None:
        self.folder = folder
        self.pool = ParserPool(
            size=size,
            timeout=AGES,
            memory=1024 * MIB,
            child="tests.servers.hostile_parser",
            confinement=Confinement(mode="off"),
        )

    def start(self, *commands: str, owner: UUID | None = None) -> list[asyncio.Task[Parsed]]:
        owner = owner or uuid4()
        self.paths = [self.folder / f"{owner}{number}" for number in range(len(commands))]
        for path, command in zip(self.paths, commands, strict=True):
            path.write_text(command)
        return [
            asyncio.create_task(self.pool.parse(path, REQUEST, owner=owner)) for path in self.paths
        ]


async def outcomes(files: Iterable[asyncio.Task[Parsed]]) -> list[str]:
    """The text of each file, or the code of its error."""
    async with asyncio.timeout(PATIENCE):
        found = await asyncio.gather(*files, return_exceptions=True)
    return [_outcome(each) for each in found]


def _outcome(found: Parsed | BaseException) -> str:
    if isinstance(found, Parsed):
        return found.document.text
    return found.code if isinstance(found, Permanent | Transient) else type(found).__name__
