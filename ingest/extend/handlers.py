"""What a job handler imports. INGEST_HANDLERS names its module; see docs/extending.md."""

from ingest.errors import ErrorCode, OwnCode, Permanent, Snooze, Transient
from ingest.handlers.context import Context, Outcome, Progress, Review, Wait, Write
from ingest.handlers.registry import Handler, handler
from ingest.payloads import Payload
from ingest.postgres.database import Connection, transaction
from ingest.store.queue.jobs import ClaimedJob
from ingest.store.sources.source_views import Document, document_text, list_documents

__all__ = [
    "ClaimedJob",
    "Connection",
    "Context",
    "Document",
    "ErrorCode",
    "Handler",
    "Outcome",
    "OwnCode",
    "Payload",
    "Permanent",
    "Progress",
    "Review",
    "Snooze",
    "Transient",
    "Wait",
    "Write",
    "document_text",
    "handler",
    "list_documents",
    "transaction",
]
