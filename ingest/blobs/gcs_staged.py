"""The blocking side of one staged upload to a bucket."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import requests
from google.api_core.exceptions import GoogleAPIError, NotFound
from google.auth.exceptions import GoogleAuthError
from google.cloud.storage import Blob, Bucket
from google.cloud.storage.exceptions import DataCorruption, InvalidResponse
from google.cloud.storage.retry import DEFAULT_RETRY
from urllib3.exceptions import HTTPError

from ingest.errors import Transient

BUCKET_ERRORS = (
    GoogleAPIError,
    GoogleAuthError,
    InvalidResponse,
    DataCorruption,
    requests.RequestException,
    HTTPError,
)
# All calls here are idempotent: names are unique and content never changes, so the library may
# retry calls that succeeded. It retries 408, 429, 5xx and broken connections.
OPTIONS: dict[str, Any] = {"timeout": (5, 60), "retry": DEFAULT_RETRY.with_timeout(60)}
_CHUNK = 8 * 1024 * 1024  # bytes per request of a resumable upload; a multiple of 256 KiB


@contextmanager
def bucket_errors(bucket: Bucket) -> Iterator[None]:
    """Turn errors that remain after the library's retries into a Transient naming the bucket."""
    try:
        yield
    except BUCKET_ERRORS as error:
        raise Transient(f"bucket {bucket.name}: {one_line(error)}", code="internal") from error


def one_line(error: Exception) -> str:
    """The error's first line, at most 300 characters, for a log or a start message."""
    text = str(error) or type(error).__name__
    return text.splitlines()[0][:300]


class ResumableUpload:
    """An object under a staged name, copied to its final name on commit.

    A killed process cannot discard, so we do not upload to the final name directly. A final name
    therefore always means a committed blob, uploads in progress are never listed, and leftovers
    share one prefix, for the sweep and for a lifecycle rule of the bucket. The price is a delete
    and a copy within the bucket, which moves no bytes.

    Blobs that were kept in memory avoid both: the commit uploads them to the final name. So most
    files of a bulk upload take one call instead of three.
    """

    def __init__(self, bucket: Bucket, staged: str, final: str) -> None:
        self._bucket = bucket
        self._staged = bucket.blob(staged)
        self._final = bucket.blob(final)
        self._writer: Any = None
        self._stored: set[str] = set()  # names under which an object may exist

    def append(self, data: bytes) -> None:
        with bucket_errors(self._bucket):
            if self._writer is None:
                self._writer = self._staged.open("wb", chunk_size=_CHUNK, **OPTIONS)
            self._writer.write(data)

    def finish(self, data: bytes) -> None:
        with bucket_errors(self._bucket):
            if self._writer is None:
                self._put(self._staged, data)
                return
            self._stored.add(self._staged.name)
            self._writer.write(data)
            self._writer.close()
            self._writer = None

    def publish(self, kept: bytes | None) -> None:
        """Store the content under its key; a copy within one bucket usually takes one call."""
        with bucket_errors(self._bucket):
            if kept is not None:
                self._put(self._final, kept)
                return
            self._stored.add(self._final.name)
            token, _, _ = self._final.rewrite(self._staged, **OPTIONS)
            while token:
                token, _, _ = self._final.rewrite(self._staged, token=token, **OPTIONS)

    def unstage(self) -> None:
        """Remove the staged object after the copy."""
        if self._staged.name in self._stored:
            self._remove(self._staged.name)

    def discard(self) -> None:
        with bucket_errors(self._bucket):
            if self._writer is not None:
                self._writer.terminate()
                self._writer = None
        for name in tuple(self._stored):
            self._remove(name)

    def _put(self, blob: Blob, data: bytes) -> None:
        self._stored.add(blob.name)  # before the call: a failed call may still have stored it
        blob.upload_from_string(data, "application/octet-stream", **OPTIONS)

    def _remove(self, name: str) -> None:
        with bucket_errors(self._bucket):
            delete(self._bucket, name)
        self._stored.discard(name)


def delete(bucket: Bucket, name: str) -> None:
    """Delete an object; an absent one is fine."""
    try:
        bucket.delete_blob(name, **OPTIONS)
    except NotFound:
        return
