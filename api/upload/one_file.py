"""A multipart form with one file, which is written to disk, and a few fields."""

import asyncio
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import BinaryIO

from api.problems import BodyTooLarge
from api.upload import paths
from api.upload.form_fields import read_field, repeated_field, unknown_field
from api.upload.multipart import PartHead, Token


class SingleFileForm:
    """The part `file`, written to `path`, and the fields beside it.

    limit: bytes of the file.
    """

    def __init__(self, path: Path, *, field_names: Collection[str], limit: int) -> None:
        self.path = path
        self._field_names = field_names
        self._limit = limit
        self.name: str | None = None
        """As the user named it; None until a file arrives."""
        self.fields: dict[str, str] = {}

    async def receive(self, tokens: AsyncIterator[Token]) -> None:
        """Read the whole form.

        Raises what its parser raises, BodyTooLarge, and RequestValidationError for a part that is
        unknown or occurs twice.
        """
        async for token in tokens:
            if not isinstance(token, PartHead):
                raise RuntimeError("the parser starts every part with its head")
            if token.name in self.fields or (token.name == "file" and self.name is not None):
                raise repeated_field(token.name, "the part occurs twice")
            if token.name == "file":
                self.name = _name(token)
                await self._file(tokens)
            elif token.name in self._field_names:
                self.fields[token.name] = await read_field(token.name, tokens)
            else:
                raise unknown_field(token.name, "unknown field")

    async def _file(self, tokens: AsyncIterator[Token]) -> None:
        with await asyncio.to_thread(self.path.open, "wb") as file:
            await self._write(file, tokens)

    async def _write(self, file: BinaryIO, tokens: AsyncIterator[Token]) -> None:
        size = 0
        async for token in tokens:
            if not isinstance(token, bytes):
                break
            size += len(token)
            if size > self._limit:
                raise BodyTooLarge(f"the file is larger than {self._limit} bytes")
            await asyncio.to_thread(file.write, token)


def _name(part: PartHead) -> str:
    try:
        return paths.normalise(paths.decode_filename(part.filename or b""))
    except ValueError:
        return "file"  # the name is only a hint at the type
