"""Every error raised on purpose. `code` is API: stable, snake_case. The message is for people.

IngestError
├── Transient(code, retry_after)    another attempt may succeed: back off, then retry
├── Permanent(code)                 no attempt can succeed: fail at once
│   └── IsArchive                   a container of files
├── Snooze(delay, reason, code)     not now, not the job's fault: wait, no attempt spent
├── LeaseLost(job_id)               the job has a new holder or has ended: drop our result
├── SetupError                      the installation is wrong: abort the start with one line
├── SearchTimeout                   the database ended a search that took too long
├── NotFound, Conflict, Rejected    api/main.py maps them to 404, 409, 422
│   └── NotStored, NoPage           a part of it is missing: 404 with a code of its own
├── QuotaExceeded                   the application would use more than it may
│   └── QuotaInUse                  of something that becomes free by itself
└── BlobMissing                     a row references a blob that the store does not have
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal, NewType
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
    "login_page",
    "soft_404",
    "consent_wall",
    "needs_javascript",
    "crawl_failed",
    "crawl_not_started",
    "embedding_rejected",
    "embedding_unavailable",
    "embedding_unauthorized",
    "embedding_model_missing",
    "embedding_quota",
    "embedding_mismatch",
    "provider_paused",
    "rerank_unavailable",
    "rate_limited",
    "budget_exceeded",
    "quota_exceeded",
    "insufficient_storage",
    "stage_timeout",
    "database_timeout",
    "worker_lost",
    "source_deleted",
    "cancelled",
    "rejected",
    "delivery_failed",
    "blob_missing",
    "busy",
    "invalid_payload",
    "internal",
    # of uploads: the file never became a job
    "invalid_path",
    "duplicate_path",
    "write_conflict",
]

OwnCode = NewType("OwnCode", str)
"""An error code of a handler outside the service: snake_case, different from those above."""


class IngestError(Exception):
    """Root of the tree; never raised itself. Secrets in the message are redacted."""

    def __init__(self, message: str = "") -> None:
        super().__init__(redact(message))


class Transient(IngestError):
    """Another attempt may succeed. `retry_after` comes from the provider and is obeyed exactly."""

    def __init__(
        self, message: str, *, code: ErrorCode | OwnCode, retry_after: timedelta | None = None
    ) -> None:
        super().__init__(message)
        self.code: ErrorCode | OwnCode = code
        self.retry_after = retry_after


class Permanent(IngestError):
    """No retry can succeed; the job fails without further attempts."""

    def __init__(self, message: str, *, code: ErrorCode | OwnCode) -> None:
        super().__init__(message)
        self.code: ErrorCode | OwnCode = code


class IsArchive(Permanent):
    """The file is a container of files. Callers unpack it, or report `unsupported_type`."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="unsupported_type")


class Snooze(IngestError):
    """The job must wait, which is not its fault; the attempt is refunded.

    `reason` is one word (the job's `waitReason`). `code`, if given, is shown with `message` as the
    job's last error.
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
    """The job was recovered, cancelled or deleted while we held it: drop our result."""

    def __init__(self, job_id: UUID) -> None:
        super().__init__(f"this worker no longer holds the lease of job {job_id}")
        self.job_id = job_id


class SetupError(IngestError):
    """The installation cannot work. The message is one line that says what to change."""


class NoConnections(SetupError):
    """The first connections could not be opened: wrong settings, or a server that is full now."""

    def __init__(self) -> None:
        super().__init__(
            "DATABASE_URL: could not open the first connections; the log has the errors of the"
            " server, such as too many connections for the role"
        )


class SearchTimeout(IngestError):
    """A statement of a search took too long; the database itself is fine."""

    code = "search_timeout"


class NotFound(IngestError):
    """The object does not exist or belongs to another application; clients cannot tell which."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} not found")


class NotStored(NotFound):
    """The object exists, but its bytes are not kept."""

    code = "original_not_stored"

    def __init__(self, what: str) -> None:
        IngestError.__init__(self, f"{what} are not stored")


class NoPage(NotFound):
    """The document exists, but it has no such page, or no pictures of its pages."""

    def __init__(self, message: str, *, code: str) -> None:
        IngestError.__init__(self, message)
        self.code = code


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


class QuotaExceeded(IngestError):
    """The application would use more than its quota; somebody must delete something or raise it."""

    code = "quota_exceeded"
    retry_after: timedelta | None = None

    def __init__(self, message: str, *, facts: Mapping[str, Any]) -> None:
        """`facts`: the quota, its limit, what is used and what is needed, for the response."""
        super().__init__(message)
        self.facts = facts


class QuotaInUse(QuotaExceeded):
    """Like QuotaExceeded, but room comes back as jobs, uploads or connections end."""

    retry_after = timedelta(seconds=5)


class BlobMissing(IngestError):
    """A row references a blob that the blob store does not have."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the stored file {key} is missing")
        self.key = key
