"""A multipart/form-data body generated while it is sent: one open file, one block of memory."""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from api.cli.files import LocalFile

_BLOCK: Final = 256 * 1024
# Browsers escape names in the header like this, and the service decodes it.
_ESCAPES: Final = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A"})


class Body:
    """Fields and files as a request body; iterate again for a retry."""

    def __init__(
        self,
        files: Sequence[LocalFile],
        fields: Mapping[str, str],
        *,
        part: str = "files",
        sent: Callable[[int], None] = lambda _: None,
    ) -> None:
        """`sent` gets the number of file bytes sent since its last call.

        `part` is the name of the form field for files.
        """
        self._part = part.encode()
        self._files = files
        self._fields = fields
        self._sent = sent
        self._boundary = secrets.token_hex(16).encode()

    @property
    def content_type(self) -> str:
        return f"multipart/form-data; boundary={self._boundary.decode()}"

    def __iter__(self) -> Iterator[bytes]:
        """Raises OSError when a file cannot be read."""
        for name, value in self._fields.items():
            yield self._head(b'name="%b"' % name.encode()) + value.encode() + b"\r\n"
        for file in self._files:
            with file.path.open("rb") as content:
                yield self._head(
                    b'name="%b"; filename="%b"'
                    % (self._part, file.name.translate(_ESCAPES).encode()),
                    b"Content-Type: application/octet-stream\r\n",
                )
                while block := content.read(_BLOCK):
                    yield block
                    self._sent(len(block))
                yield b"\r\n"
        yield b"--%b--\r\n" % self._boundary

    def _head(self, disposition: bytes, more: bytes = b"") -> bytes:
        return b"--%b\r\nContent-Disposition: form-data; %b\r\n%b\r\n" % (
            self._boundary,
            disposition,
            more,
        )
