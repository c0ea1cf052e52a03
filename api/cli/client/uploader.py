"""Send files to the service in several requests, but only those that it does not have."""

import hashlib
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from api.cli.client.http_client import Client, ServiceError, Unreachable
from api.cli.client.local_files import LocalFile, Skipped, split

# Large enough that a request costs little, small enough that Ctrl-C loses little.
_FILES_PER_REQUEST: Final = 500
_BYTES_PER_REQUEST: Final = 64 * 1024 * 1024
_ATTEMPTS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadOptions:
    """The form fields of the upload, the same for all files of a command."""

    metadata: dict[str, Any] | None = None
    priority: int = 0
    on_conflict: str = "update"
    chunking: dict[str, Any] | None = None
    """Applies to files that are sent, not to those that the service has."""
    collection_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsearchableFile:
    """A file whose current content is not searchable, and why."""

    path: str
    status: str
    """`rejected`, or the state of its source."""
    code: str | None
    detail: str | None

    @classmethod
    def of(cls, file: Mapping[str, Any], status: str) -> Self:
        """The file in a response of the service."""
        return cls(
            path=file["path"], status=status, code=file.get("code"), detail=file.get("detail")
        )


@dataclass(slots=True, kw_only=True)
class UploadAnswers:
    """Totals of all responses so far."""

    batch_id: str | None = None
    verdicts: Counter[str] = field(default_factory=Counter)
    files_sent: int = 0
    rejected: list[UnsearchableFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    already_open: dict[str, str] = field(default_factory=dict)
    """Sources that an earlier upload left in progress, each with its job."""

    def record(self, file: Mapping[str, Any]) -> None:
        """Count one file of a response."""
        self.verdicts[file["verdict"]] += 1
        if file["verdict"] == "rejected":
            self.rejected.append(UnsearchableFile.of(file, "rejected"))
        elif file["verdict"] != "accepted" and file.get("jobId"):
            self.already_open[file["knowledgeSourceId"]] = file["jobId"]


class Uploader:
    """Sends the files of one command; `answers` grows with every response."""

    def __init__(
        self,
        client: Client,
        options: UploadOptions,
        *,
        on_progress: Callable[[int], None] = lambda _: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`on_progress` gets the total number of bytes that were sent or need not be sent."""
        self._client = client
        self._options = options
        self._on_progress = on_progress
        self._sleep = sleep
        self._done = 0
        self.answers = UploadAnswers()
        self.phase = "checking"
        """`checking` which files the service has, or `sending` the rest."""
        self.files_done = 0

    def send(self, files: Sequence[LocalFile]) -> None:
        """Send the files.

        Raises Unreachable if there is still no response after all retries, ServiceError if the
        service responds with an error.
        """
        for part in split(files, count=_FILES_PER_REQUEST, size=_BYTES_PER_REQUEST):
            self._send_with_retries(part)
            self.files_done += len(part)
            self._done += sum(file.size for file in part)
            self._on_progress(self._done)

    def _send_with_retries(self, part: Sequence[LocalFile]) -> None:
        """Send one part, with retries; the check before each skips files already received."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                self._send_part(part)
                return
            except (ServiceError, Unreachable) as error:
                if not error.is_temporary or attempt == _ATTEMPTS:
                    raise
            except OSError:
                # A file disappeared while it was sent: hashing again finds out which.
                if attempt == _ATTEMPTS:
                    raise
            self._sleep(random.uniform(0, 2.0**attempt))  # noqa: S311 jitter

    def _send_part(self, part: Sequence[LocalFile]) -> None:
        self.phase = "checking"
        digests, unreadable = _digests(part)
        known = self._known(digests)
        missing = [file for index, (file, _) in enumerate(digests) if index not in known]
        answers = self._upload(missing, already=sum(file.size for file in part)) if missing else []
        # Nothing is counted before the whole part is sent, so a retry cannot count twice.
        self.answers.skipped += unreadable
        self.answers.files_sent += len(missing)
        for file in [*known.values(), *answers]:
            self.answers.record(file)

    def _known(self, digests: Sequence[tuple[LocalFile, str]]) -> dict[int, dict[str, Any]]:
        if not digests:
            return {}
        body = {
            "files": [{"path": file.name, "sha256": digest} for file, digest in digests],
            "metadata": self._options.metadata,
            "onConflict": self._options.on_conflict,
            "collectionId": self._options.collection_id,
        }
        answer = self._client.post("/upload/check", body)
        return {file["index"]: file for file in answer["known"]}

    def _upload(self, files: Sequence[LocalFile], *, already: int) -> Iterable[dict[str, Any]]:
        done = self._done + already - sum(file.size for file in files)

        def on_sent(size: int) -> None:
            nonlocal done
            done += size
            self._on_progress(done)

        self.phase = "sending"
        try:
            answer = self._client.post_files(
                "/upload/documents", files, self._fields(), on_sent=on_sent
            )
        except ServiceError as error:
            rejected = error.problem.get("files")
            if error.problem.get("code") == "nothing_accepted" and isinstance(rejected, list):
                return rejected
            raise
        self.answers.batch_id = answer["batchId"]
        files_answered: list[dict[str, Any]] = answer["files"]
        return files_answered

    def _fields(self) -> dict[str, str]:
        fields = {
            "priority": str(self._options.priority),
            "onConflict": self._options.on_conflict,
        }
        if self._options.metadata is not None:
            fields["metadata"] = json.dumps(self._options.metadata)
        if self._options.chunking is not None:
            fields["chunking"] = json.dumps(self._options.chunking)
        if self._options.collection_id is not None:
            fields["collectionId"] = self._options.collection_id
        if self.answers.batch_id is not None:
            fields["batchId"] = self.answers.batch_id
        return fields


def _digests(files: Sequence[LocalFile]) -> tuple[list[tuple[LocalFile, str]], list[Skipped]]:
    """The hash of every readable file, and the unreadable files."""
    digests, unreadable = [], []
    for file in files:
        try:
            with file.path.open("rb") as content:
                digests.append((file, hashlib.file_digest(content, "sha256").hexdigest()))
        except OSError as error:
            unreadable.append(Skipped.unreadable(file.path, error))
    return digests, unreadable
