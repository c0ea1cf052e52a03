"""Errors of the local disk, with messages for the operator."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ingest.errors import ErrorCode, Transient

_FULL = {errno.ENOSPC, errno.EDQUOT}


@contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """Turn OSError into a Transient that names the folder, so that the operator can fix it."""
    try:
        yield
    except OSError as error:
        code: ErrorCode = "insufficient_storage" if error.errno in _FULL else "internal"
        raise Transient(describe(error, folder), code=code) from error


def describe(error: OSError, folder: Path) -> str:
    """One line that says what is wrong with `folder`."""
    if error.errno in _FULL:
        return f"the disk that holds {folder} is full"
    return f"cannot use {folder}: {error.strerror or error}"
