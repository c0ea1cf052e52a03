"""Receive an upload: stage and hash each part as a blob, and clean up all unused blobs."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self
from uuid import UUID

import structlog

from api.problems import BodyTooLarge
from api.upload import paths
from api.upload.form_fields import read_field, repeated_field, unknown_field
from api.upload.incoming import IncomingUpload
from api.upload.multipart import PartHead, Token
from ingest.blobs.base import BlobStore, StagedBlob, new_key
from ingest.errors import ErrorCode
from ingest.store.sources.upload_verdicts import UploadedFile

log = structlog.get_logger()

MAX_FILES: Final = 50_000
"""Of one request: each costs memory until the request has been answered."""

# Characters of a refused name that are reported.
_MAX_NAME_SHOWN: Final = 200


class Intake:
    """The files and fields of one upload.

    A context manager: on exit it removes every blob that `keep` did not name, also after an error.
    """

    def __init__(
        self,
        blobs: BlobStore,
        *,
        application_id: UUID,
        field_names: Collection[str],
        max_file_bytes: int,
        incoming: IncomingUpload,
    ) -> None:
        self._blobs = blobs
        self._incoming = incoming
        self._field_names = field_names
        self._application_id = application_id
        self._max_file_bytes = max_file_bytes
        self._staged: dict[str, StagedBlob] = {}
        self._committed: set[str] = set()
        self.files: list[UploadedFile] = []
        """In the order of the request; those with a `code` were refused and have no blob."""
        self.fields: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        unused = [key for key in self._committed if key in self._staged]
        rest = [blob for key, blob in self._staged.items() if key not in self._committed]
        outcomes = await asyncio.gather(
            self._blobs.delete(unused), *(blob.discard() for blob in rest), return_exceptions=True
        )
        left = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        if left:
            # The orphan sweep removes them.
            log.warning("upload.blobs_not_removed", count=len(left), error=str(left[0]))

    async def receive(self, tokens: AsyncIterator[Token]) -> None:
        """Read the whole upload. Raises what its parser raises, and for unknown or huge fields."""
        async for token in tokens:
            if not isinstance(token, PartHead):
                raise RuntimeError("the parser starts every part with its head")
            if token.name == "files":
                if len(self.files) >= MAX_FILES:
                    raise BodyTooLarge(
                        f"a request may hold {MAX_FILES} files; send the rest in another one"
                    )
                await self._file(token, tokens)
            elif token.name not in self._field_names:
                raise unknown_field(token.name, "unknown field; send files as `files`")
            elif token.name in self.fields:
                raise repeated_field(token.name, "the field occurs twice")
            else:
                self.fields[token.name] = await read_field(token.name, tokens)

    async def commit(self, keys: Collection[str]) -> None:
        """Make these blobs durable, unless they are already."""
        wanted = [key for key in keys if key not in self._committed]
        await self._blobs.commit([self._staged[key] for key in wanted])
        self._committed.update(wanted)

    def lacks(self, keys: Collection[str]) -> bool:
        """Whether at least one of these blobs is not durable yet."""
        return not self._committed.issuperset(keys)

    def keep(self, keys: Collection[str]) -> None:
        """Do not remove these blobs on exit. Call this before committing rows that refer to them.

        If the outcome of the commit is unknown, the sweep removes an orphan later; a row without
        its bytes could not be repaired.
        """
        for key in keys:
            del self._staged[key]

    async def _file(self, part: PartHead, tokens: AsyncIterator[Token]) -> None:
        name = paths.decode_filename(part.filename or b"")
        try:
            path = paths.normalise(name)
        except ValueError as error:
            size = await _skip(tokens)
            shown = paths.visible(name)[:_MAX_NAME_SHOWN]
            self.files.append(_refused(shown, size, "invalid_path", str(error)))
            return
        key = new_key(self._application_id)
        blob = self._staged[key] = self._blobs.stage(key)
        stored = await self._store(blob, tokens)
        if stored.refusal is None and stored.size:
            self.files.append(
                UploadedFile(path=path, size=stored.size, sha256=stored.sha256, blob_key=key)
            )
            return
        await self._staged.pop(key).discard()
        code, detail = stored.refusal or ("empty_content", "the file is empty")
        self.files.append(
            UploadedFile(
                path=path,
                size=stored.size,
                sha256=stored.sha256,
                blob_key="",
                code=code,
                detail=detail,
            )
        )

    async def _store(self, blob: StagedBlob, tokens: AsyncIterator[Token]) -> "_StoredPart":
        """Write the bytes of a part, up to the piece that exceeds a limit, and read it to its end.

        A part beyond a quota is hashed all the same: a repeated request must be recognised although
        there is room now.
        """
        digest = hashlib.sha256()
        size = written = 0
        refusal: tuple[ErrorCode, str] | None = None
        async for token in tokens:
            if not isinstance(token, bytes):
                break
            size += len(token)
            if size > self._max_file_bytes:
                refusal = "too_large", f"larger than {self._max_file_bytes} bytes"
            else:
                digest.update(token)
                if refusal is None:
                    excess = await self._incoming.add(len(token))
                    refusal = None if excess is None else ("quota_exceeded", str(excess))
            if refusal is None:
                await blob.write(token)
                written += len(token)
            elif written:
                # Now, not when the part ends: a request may contain many such files.
                await blob.discard()
                self._incoming.release(written)
                written = 0
        if refusal is None:
            await blob.finish()
        is_hashed = refusal is None or refusal[0] == "quota_exceeded"
        return _StoredPart(size=size, sha256=digest.digest() if is_hashed else b"", refusal=refusal)


@dataclass(frozen=True, slots=True, kw_only=True)
class _StoredPart:
    size: int
    sha256: bytes
    refusal: tuple[ErrorCode, str] | None


async def _skip(tokens: AsyncIterator[Token]) -> int:
    """Read a part to its end; returns the number of bytes skipped."""
    size = 0
    async for token in tokens:
        if not isinstance(token, bytes):
            break
        size += len(token)
    return size


def _refused(path: str, size: int, code: ErrorCode, detail: str) -> UploadedFile:
    return UploadedFile(path=path, size=size, sha256=b"", blob_key="", code=code, detail=detail)
