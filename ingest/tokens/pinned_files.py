"""Model files are used only if they are the very bytes that were tested.

Vectors and token counts of another file would be stored beside the old ones without a sign.
"""

import hashlib
from pathlib import Path

from ingest.errors import SetupError


def read(path: Path, *, sha256: str, package: str) -> bytes:
    """The content of the file. Raises SetupError if it is missing or not the expected one."""
    try:
        data = path.read_bytes()
    except OSError:
        data = b""  # which no hash accepts
    return check(data, path, sha256=sha256, package=package)


def check(data: bytes, path: Path, *, sha256: str, package: str) -> bytes:
    """`data`, which came from `path`. Raises SetupError, which says what to reinstall."""
    if hashlib.sha256(data).hexdigest() != sha256:
        raise SetupError(
            f"{path} is missing, damaged, or not the tested version: reinstall {package}"
        )
    return data
