"""How much a parser process may keep in its scratch folder while it reads a file."""

import asyncio
import os
from pathlib import Path
from typing import Final

from ingest.sandbox.messages import (
    ATTACHMENT_BYTES,
    MOST_ATTACHMENTS,
    ParseRequest,
    Request,
    UnpackRequest,
)

_OWN_BYTES: Final = 512 * 1024 * 1024
_OWN_FILES: Final = 10_000
"""What libraries store for themselves, such as the pictures that an OCR program reads."""
_BLOCK: Final = 512  # bytes: the unit of `st_blocks` everywhere
_LOOK_SECONDS: Final = 0.5
_IDLE_SHARE: Final = 20  # a look at many files takes up to a twentieth of the time


async def wait_until_exceeded(folder: Path, request: Request) -> None:
    """Return as soon as the folder has more bytes or files than the request explains."""
    size, files = allowance(request)
    loop = asyncio.get_running_loop()
    pause = _LOOK_SECONDS
    while True:
        await asyncio.sleep(pause)
        started = loop.time()
        if await asyncio.to_thread(exceeds, folder, size=size, files=files):
            return
        pause = max(_LOOK_SECONDS, _IDLE_SHARE * (loop.time() - started))


def allowance(request: Request) -> tuple[int, int]:
    """The most bytes and files in the scratch folder during a request."""
    if isinstance(request, UnpackRequest):
        return _OWN_BYTES + request.max_bytes, _OWN_FILES + request.max_members
    if isinstance(request, ParseRequest) and request.members is not None:
        return _OWN_BYTES + ATTACHMENT_BYTES, _OWN_FILES + MOST_ATTACHMENTS
    return _OWN_BYTES, _OWN_FILES


def exceeds(folder: Path, *, size: int, files: int) -> bool:
    """Whether a folder has more than `size` bytes on the disk, or more than `files` entries.

    So does one that cannot be read: of a hostile process, it may be nested too deep, or closed.
    """
    waiting = [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    files -= 1
                    size -= _BLOCK * entry.stat(follow_symlinks=False).st_blocks
                    if files < 0 or size < 0:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except (FileNotFoundError, NotADirectoryError):  # removed meanwhile
            continue
        except OSError:
            return True
    return False
