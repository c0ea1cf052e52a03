"""Attachments of messages: listed in the metadata, and passed on to become documents."""

import mimetypes
from collections.abc import Callable
from functools import partial
from typing import Any

from ingest.errors import ErrorCode, Permanent
from ingest.formats.common.input_file import MemberSink

_MOST_LISTED = 200


class Attachments:
    """The attachments of all messages in one file, in order."""

    def __init__(self, sink: MemberSink | None, *, folder: str = "") -> None:
        self._sink = sink
        self._listed: list[dict[str, Any]] = []
        self._count = 0
        self._is_full = False
        self.folder = folder
        """Prefix for the paths of the attachments added next: one per message of a mailbox."""

    @property
    def are_kept(self) -> bool:
        """Whether attachments become documents, so that their text need not be shown in place."""
        return self._sink is not None and not self._is_full

    def add(self, name: str, data: bytes, *, media_type: str = "", keep: bool = True) -> None:
        """List a file and, with `keep`, pass it on. A file without a name gets one."""
        name = self._note(name, media_type, len(data))
        if self._sink is not None and keep:
            self._hand_on(self._sink.add, self._path(name), data)

    def refuse(
        self, name: str, *, size: int, media_type: str = "", code: ErrorCode, message: str
    ) -> None:
        """List a file that cannot be read."""
        name = self._note(name, media_type, size)
        if self._sink is not None:
            refuse = partial(self._sink.refuse, code=code, message=message)
            self._hand_on(refuse, self._path(name))

    def metadata(self) -> dict[str, Any]:
        """`attachments`, the first 200 of them, and `attachmentCount`; empty if there are none."""
        if not self._count:
            return {}
        return {"attachments": self._listed, "attachmentCount": self._count}

    def warnings(self) -> tuple[str, ...]:
        """`attachments_not_kept` if there were too many, or they were too large."""
        return ("attachments_not_kept",) if self._is_full else ()

    def _hand_on(self, give: Callable[..., object], *arguments: object) -> None:
        if self._is_full:
            return
        try:
            give(*arguments)
        except Permanent:  # over a limit; the text of the message is still useful
            self._is_full = True

    def _note(self, name: str, media_type: str, size: int) -> str:
        self._count += 1
        if not name:
            name = f"attachment-{self._count}{mimetypes.guess_extension(media_type) or ''}"
        if self._count <= _MOST_LISTED:
            listed: dict[str, Any] = {"name": name, "sizeBytes": size}
            self._listed.append({**listed, "mediaType": media_type} if media_type else listed)
        return name

    def _path(self, name: str) -> str:
        flat = name.replace("/", "_").replace("\\", "_")
        return f"{self.folder}/{flat}" if self.folder else flat
