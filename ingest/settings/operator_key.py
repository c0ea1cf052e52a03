"""The operator's API key: configured, or generated once and replaced by `ingest key rotate`.

data/admin.key            the generated key, in a file that only its owner reads
     admin.key.previous   the key before and until when it is valid (Unix time), after a rotation

A rotation replaces the file, and each process of the folder sees that at the next use of a key.
"""

import fcntl
import hmac
import os
import secrets
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

from ingest.errors import SetupError
from ingest.settings.settings import Settings

SETTLED_AFTER: Final = timedelta(seconds=60)
"""Tickets that the old key has issued live no longer than this."""

_EXAMPLE: Final = "change-me"

_Stamp = tuple[int, int]
"""Inode and time of the last change, in nanoseconds."""


class OperatorKey:
    """The key that is valid now; the one before too, while its grace lasts."""

    def __init__(self, key: str, *, previous: str | None = None, file: Path | None = None) -> None:
        """`file` holds the key and is read again when it was replaced."""
        self._key = key
        self._previous, self._previous_until = previous, float("inf")
        self._file = file
        self._stamp = None if file is None else _stamp(file)
        self._settled: float | None = None
        if file is not None:
            self._read_previous()

    @property
    def current(self) -> str:
        """The key from which new secrets are derived."""
        self._refresh()
        return self._key

    def accepts(self, key: str) -> bool:
        """Whether this is the operator's key."""
        self._refresh()
        return any(hmac.compare_digest(key.encode(), own.encode()) for own in self._accepted())

    def _accepted(self) -> list[str]:
        if self._previous is None or time.time() >= self._previous_until:
            return [self._key]
        return [self._key, self._previous]

    def seal(self, value: bytes) -> bytes:
        """A proof that the holder of the current key has made `value`."""
        self._refresh()
        return _seal(self._key, value)

    def has_sealed(self, value: bytes, seal: bytes) -> bool:
        """Whether the key that is valid now, or the one before during its grace, made the seal."""
        self._refresh()
        return any(hmac.compare_digest(_seal(key, value), seal) for key in self._accepted())

    def is_replaced_for(self, opened: float) -> bool:
        """Whether a connection of the operator must end: it may have been opened with an old key,
        or with a ticket that an old key has issued.

        `opened`: by the monotonic clock.
        """
        self._refresh()
        return self._settled is not None and opened < self._settled <= time.monotonic()

    def _refresh(self) -> None:
        if self._file is None or (stamp := _stamp(self._file)) in (None, self._stamp):
            return  # a file that was removed takes no rights away: a restart makes a new one
        with suppress(OSError):
            key = self._file.read_text().strip()
            if not key:
                return  # being edited by hand
            self._key, self._stamp = key, stamp
            self._read_previous()
            grace = 0.0 if self._previous is None else self._previous_until - time.time()
            self._settled = time.monotonic() + max(grace, SETTLED_AFTER.total_seconds())

    def _read_previous(self) -> None:
        self._previous = None
        if self._file is not None:
            with suppress(OSError, ValueError):
                key, until = _previous_file(self._file).read_text().split()
                self._previous, self._previous_until = key, float(until)


def operator_key(settings: Settings) -> OperatorKey:
    """The key in INGEST_ADMIN_KEY, or the generated one. Raises SetupError."""
    previous = settings.admin_key_previous
    if settings.admin_key is not None:
        key = settings.admin_key.get_secret_value()
        if key == _EXAMPLE:
            raise SetupError("INGEST_ADMIN_KEY: this is the value of an example; choose a secret")
        return OperatorKey(key, previous=None if previous is None else previous.get_secret_value())
    if previous is not None:
        raise SetupError("INGEST_ADMIN_KEY_PREVIOUS: needs INGEST_ADMIN_KEY")
    file = _key_file(settings.data_dir)
    if not file.exists():
        _generate(file)
    key = file.read_text().strip()
    if not key:
        raise SetupError(f"{file} is empty: delete it, and the next start generates a key")
    return OperatorKey(key, file=file)


def rotate(data_dir: Path, *, grace: timedelta) -> str:
    """Replace the generated key; the old one stays valid for `grace`. Returns the new key.

    Raises SetupError when there is no generated key, or it cannot be replaced.
    """
    file = _key_file(data_dir).resolve()
    try:
        with _locked(file.parent):
            old = file.read_text().strip()
            if grace:
                until = time.time() + grace.total_seconds()
                _replace(_previous_file(file), f"{old} {until}", like=file)
            else:
                _previous_file(file).unlink(missing_ok=True)
            key = _new_key()
            _replace(file, key, like=file)
            return key
    except FileNotFoundError:
        raise SetupError(
            f"there is no generated key in {file}: run this in the folder where the "
            "service was started, or set INGEST_DATA_DIR"
        ) from None
    except OSError as error:
        raise SetupError(f"{file} cannot be replaced: {error.strerror}") from None


def _key_file(data_dir: Path) -> Path:
    return data_dir / "admin.key"


def _previous_file(file: Path) -> Path:
    return file.with_name(f"{file.name}.previous")


def _new_key() -> str:
    return f"rk_{secrets.token_urlsafe(32)}"


def _generate(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = _draft(file, _new_key())
    # os.link is atomic: if two first starts race, one wins, and both read its key.
    with suppress(FileExistsError):
        os.link(draft, file)
    draft.unlink()


def _replace(file: Path, content: str, *, like: Path) -> None:
    """Replace the file at once, so that no reader finds a part of it. Its owner stays: root may
    rotate the key of a service that runs as another account."""
    draft = _draft(file, content)
    try:
        if os.geteuid() == 0:
            owner = like.stat()
            os.chown(draft, owner.st_uid, owner.st_gid)
        draft.replace(file)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    _sync(file.parent)


def _draft(file: Path, content: str) -> Path:
    """A complete file beside `file`, which only its owner reads."""
    descriptor, name = tempfile.mkstemp(prefix=f"{file.name}.", dir=file.parent)
    with os.fdopen(descriptor, "w") as draft:
        draft.write(f"{content}\n")
        draft.flush()
        os.fsync(draft.fileno())
    return Path(name)


def _seal(key: str, value: bytes) -> bytes:
    return hmac.digest(key.encode(), b"seal:" + value, "sha256")


def _stamp(file: Path) -> _Stamp | None:
    try:
        status = os.stat(file)  # twice as fast as Path.stat, and this runs for each request
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One rotation at a time."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
