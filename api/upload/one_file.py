"""A multipart form with one file, which is written to disk, and a few fields."""

import asyncio
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import BinaryIO, Final

from fastapi.exceptions import RequestValidationError

from api.problems import BodyTooLarge
from api.upload import paths
from api.upload.multipart import Part, Token

_LARGEST_FIELD: Final = 64 * 1024
# Characters of a refused name that are shown.
_SHOWN: Final = 200


class OneFile:
    """The part `file`, written to `path`, and the fields beside it.

    limit: bytes of the file.
    """

    def __init__(self, path: Path, *, fields: Collection[str], limit: int) -> None:
        self.path = path
        self._known = fields
        self._limit = limit
        self.name: str | None = None
        """As the user named it; None until a file arrives."""
        self.fields: dict[str, str] = {}

    async def receive(self, tokens: AsyncIterator[Token]) -> None:
        """Read the whole form.

        Raises what its parser raises, BodyTooLarge, and RequestValidationError for a part that is
        unknown or came twice.
        """
        async for token in tokens:
            if not isinstance(token, Part):
                raise RuntimeError("the parser begins every part with its head")
            if token.name in self.fields or (token.name == "file" and self.name is not None):
                raise _invalid(token.name, "repeated", "this part came twice")
            if token.name == "file":
                self.name = _name(token)
                await self._file(tokens)
            elif token.name in self._known:
                self.fields[token.name] = await _field(token.name, tokens)
            else:
                raise _invalid(token.name, "extra_forbidden", "no such field")

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


def _name(part: Part) -> str:
    try:
        return paths.normalise(paths.decode_filename(part.filename or b""))
    except ValueError:
        return "file"  # the name is only a hint at the type


async def _field(name: str, tokens: AsyncIterator[Token]) -> str:
    value = bytearray()
    async for token in tokens:
        if not isinstance(token, bytes):
            break
        value += token
        if len(value) > _LARGEST_FIELD:
            raise BodyTooLarge(f"the field {name} is longer than {_LARGEST_FIELD} bytes")
    return value.decode("utf-8", "replace")


def _invalid(name: str, kind: str, message: str) -> RequestValidationError:
    loc = ("body", paths.visible(name)[:_SHOWN])
    return RequestValidationError([{"type": kind, "loc": loc, "msg": message}])
