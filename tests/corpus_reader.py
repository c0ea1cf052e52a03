"""Reads a file with all the files that are in it, as the service's jobs do one after the other."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingest.errors import IsArchive, Permanent, Transient
from ingest.model import ChunkSettings, Member, OcrSettings
from ingest.sandbox.messages import ParseRequest, UnpackRequest
from ingest.sandbox.pool import ParserPool

_CHUNKS = ChunkSettings(tokenizer="cl100k_base", size=512, overlap=64)
_DEEPEST = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    text: str
    seconds: float
    """Of extraction."""
    warnings: frozenset[str]


class Reader:
    def __init__(self, pool: ParserPool, ocr: OcrSettings | None) -> None:
        self._pool = pool
        self._ocr = ocr

    async def read(self, path: Path, *, name: str | None = None, depth: int = 0) -> Read:
        """All text. Raises what parsers raise; of an archive, if no file in it could be read."""
        name = name or path.name
        with tempfile.TemporaryDirectory() as folder:
            try:
                return await self._document(path, name, Path(folder), depth)
            except IsArchive:
                return await self._archive(path, name, Path(folder), depth)

    async def _document(self, path: Path, name: str, folder: Path, depth: int) -> Read:
        request = ParseRequest(
            name=name,
            declared=None,
            max_pages=5000,
            chunk=_CHUNKS,
            members=str(folder),
            ocr=self._ocr,
        )
        parsed = await self._pool.parse(path, request)
        if not parsed.chunks:
            raise Permanent("no chunks", code="no_text")
        inside, _ = await self._members(parsed.members, folder, depth)
        text = "\n\n".join([parsed.document.text, *inside])
        warnings = frozenset(parsed.document.warnings)
        return Read(text=text, seconds=parsed.extract_seconds, warnings=warnings)

    async def _archive(self, path: Path, name: str, folder: Path, depth: int) -> Read:
        if depth == _DEEPEST:
            raise Permanent("too many archives in one another", code="archive_unsafe")
        request = UnpackRequest(
            name=name,
            folder=str(folder),
            max_members=10_000,
            max_bytes=2**32,
            max_member_bytes=2**30,
        )
        unpacked = await self._pool.unpack(path, request)
        texts, codes = await self._members(unpacked.members, folder, depth)
        if not texts:
            # That it never ends is worse than what else is wrong with it.
            code: Any = "archive_unsafe" if "archive_unsafe" in codes else codes[-1]
            raise Permanent("no file in it could be read", code=code)
        return Read(text="\n\n".join(texts), seconds=0.0, warnings=frozenset())

    async def _members(
        self, members: tuple[Member, ...], folder: Path, depth: int
    ) -> tuple[list[str], list[str]]:
        texts, codes = [], []
        for member in members:
            if member.code is not None:
                codes.append(member.code)
                continue
            name = Path(member.path).name
            try:
                found = await self.read(folder / member.file, name=name, depth=depth + 1)
                texts.append(found.text)
            except (Permanent, Transient) as error:
                codes.append(error.code)
        return texts, codes
