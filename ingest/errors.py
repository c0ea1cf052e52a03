"""Every error raised on purpose. `code` is API: stable, snake_case. The message is for people.

IngestError
├── Transient(code, retry_after)    another attempt may succeed: back off, then retry
├── Permanent(code)                 no attempt can succeed: failed at once
│   └── IsArchive                   a container of files
├── Snooze(delay, reason, code)     not now, through no fault of the job: wait, no attempt spent
├── LeaseLost(job_id)               the job has a newer holder or an end: drop our result
├── SetupError                      the installation is wrong: stop the start with one line
├── NotFound, Conflict, Rejected    decided in api/main.py: 404, 409, 422
└── BlobMissing                     a row names bytes that the blob store does not have
"""

from datetime import timedelta
from typing import Literal, NewType
from uuid import UUID

from ingest.redaction import redact

ErrorCode = Literal[
    "unsupported_type",
    "type_mismatch",
    "empty_content",
    "no_text",
    "encrypted",
    "corrupt",
    "too_large",
    "too_many_pages",
    "archive_unsafe",
    "parser_crashed",
    "parser_timeout",
    "parser_memory",
    "parser_missing",
    "fetch_failed",
    "fetch_status",
    "fetch_blocked",
    "robots_disallowed",
    "redirect_loop",
    "crawl_failed",
    "crawl_not_started",
    "embedding_rejected",
    "embedding_unavailable",
    "embedding_unauthorized",
    "embedding_model_missing",
    "embedding_quota",
    "embedding_mismatch",
    "rate_limited",
    "budget_exceeded",
    "stage_timeout",
    "database_timeout",
    "worker_lost",
    "source_deleted",
    "cancelled",
    "rejected",
    "delivery_failed",
    "blob_missing",
    "busy",
    "internal",
    # of uploads: the file never became a job
    "invalid_path",
    "duplicate_path",
    "write_conflict",
]

OwnCode = NewType("OwnCode", str)
"""A code of a handler that is not part of the service: snake_case, and none of those above."""


class IngestError(Exception):
    """Root of the tree; never raised itself. A message holds no secrets, whoever wrote it."""

    def __init__(self, message: str = "") -> None:
        super().__init__(redact(message))


class Transient(IngestError):
    """Another attempt may succeed. `retry_after` is the provider's word and is obeyed exactly."""

    def __init__(
        self, message: str, *, code: ErrorCode | OwnCode, retry_after: timedelta | None = None
    ) -> None:
        super().__init__(message)
        self.code: ErrorCode | OwnCode = code
        self.retry_after = retry_after


class Permanent(IngestError):
    """No attempt can succeed: the job fails at once and burns no further attempts."""

    def __init__(self, message: str, *, code: ErrorCode | OwnCode) -> None:
        super().__init__(message)
        self.code: ErrorCode | OwnCode = code


class IsArchive(Permanent):
    """The file is a container of files: some take them one by one, others cannot read it."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="unsupported_type")


class Snooze(IngestError):
    """The job has to wait through no fault of its own; the attempt is given back.

    `reason` is a word (the job's `waitReason`). `code`, if it has one, is shown beside it as the
    job's last error, with `message`.
    """

    def __init__(
        self,
        delay: timedelta,
        *,
        reason: str,
        code: ErrorCode | OwnCode | None = None,
        message: str | None = None,
    ) -> None:
        super().__init__(message or reason)
        self.delay = delay
        self.reason = reason
        self.code: ErrorCode | OwnCode | None = code


class LeaseLost(IngestError):
    """The job was recovered, cancelled or deleted while we held it: our result must be dropped."""

    def __init__(self, job_id: UUID) -> None:
        super().__init__(f"job {job_id} is no longer ours")
        self.job_id = job_id


class SetupError(IngestError):
    """The installation is wrong. The message is one line that says what to change."""


class NotFound(IngestError):
    """The object does not exist, or belongs to another application: the two look the same."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} not found")


class Conflict(IngestError):
    """The object's state forbids the request."""

    def __init__(self, message: str, *, code: str = "conflict") -> None:
        super().__init__(message)
        self.code = code


class Rejected(IngestError):
    """The request is well-formed, but its content cannot be accepted."""

    def __init__(self, message: str, *, code: str = "invalid_request") -> None:
        super().__init__(message)
        self.code = code


class BlobMissing(IngestError):
    """A row names bytes that the blob store does not have."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the stored file {key} is missing")
        self.key = key
