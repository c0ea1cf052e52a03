"""The built files of the dashboard, as `npm run build` leaves them in a folder.

index.html       the page
assets/NAME      what it loads; names carry the hash of their content
*.br, *.gz       each file compressed, beside it
"""

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fastapi import Request, Response

from api.middleware.security_headers import CONTENT_POLICY

PAGE: Final = "index.html"
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types ingest"
)
"""Of the page, and of its workers, which have the policy of their own file."""

_MEDIA_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".map": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
# Browsers name Brotli over https and to this machine only.
_CODINGS: Final = {".br": "br", ".gz": "gzip"}
_REVALIDATED: Final = "no-cache"
_FOR_EVER: Final = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class File:
    content: bytes
    compressed: Mapping[str, bytes]
    """By content coding, smallest first."""
    media_type: str
    is_immutable: bool
    digest: str

    def response(self, request: Request) -> Response:
        """The file, compressed if the client reads that, or 304."""
        accepted = _accepted(request)
        coding = next((coding for coding in self.compressed if coding in accepted), None)
        tag = f'"{self.digest}"' if coding is None else f'"{self.digest}-{coding}"'
        headers = {
            CONTENT_POLICY: POLICY,
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cache-Control": _FOR_EVER if self.is_immutable else _REVALIDATED,
            "ETag": tag,
            "Vary": "Accept, Accept-Encoding",
        }
        if tag in re.split(r"\s*,\s*", request.headers.get("if-none-match", "").strip()):
            return Response(status_code=304, headers=headers)
        if coding is not None:
            headers["Content-Encoding"] = coding
        content = self.content if coding is None else self.compressed[coding]
        return Response(content, headers=headers, media_type=self.media_type)


def _accepted(request: Request) -> set[str]:
    """The content codings that the client names and does not refuse."""
    found = set[str]()
    for part in request.headers.get("accept-encoding", "").split(","):
        name, _, quality = part.partition(";")
        if re.fullmatch(r"\s*q=0(\.0*)?\s*", quality) is None:
            found.add(name.strip().lower())
    return found


class BuiltFiles:
    """The files of a folder, in memory: a request cannot name any other. They are read again when
    the page was built again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stamp: tuple[int, int] | None = None
        self._files: Mapping[str, File] = {}

    def get(self, name: str) -> File | None:
        """The file with this path below the folder; None if there is none."""
        try:
            status = os.stat(self._folder / PAGE)
        except OSError:
            return None
        if (stamp := (status.st_ino, status.st_mtime_ns)) != self._stamp:
            self._files = _read(self._folder)
            self._stamp = stamp
        return self._files.get(name)


def _read(folder: Path) -> dict[str, File]:
    found = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    return {
        name: File(
            content=content,
            compressed={
                coding: found[name + suffix]
                for suffix, coding in _CODINGS.items()
                if name + suffix in found
            },
            media_type=_MEDIA_TYPES.get(Path(name).suffix, "application/octet-stream"),
            is_immutable=name.startswith("assets/"),
            digest=hashlib.sha256(content).hexdigest()[:32],
        )
        for name, content in found.items()
        if Path(name).suffix not in _CODINGS
    }
