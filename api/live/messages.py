"""The messages of /api/ws and the event streams: serialised once for all receivers."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

import orjson
from pydantic import Field, TypeAdapter

from api.live.client_queue import Message
from api.schema.json_model import Body
from ingest.store.sources.events import Event
from ingest.store.sources.progress import ApplicationProgress, SourceProgress

MAX_SUBSCRIPTION: Final = 10_000

SourceIds = Annotated[list[UUID], Field(max_length=MAX_SUBSCRIPTION)] | Literal["all"]
Seq = Annotated[int, Field(ge=0, lt=2**63)]


class Subscribe(Body):
    type: Literal["subscribe"]
    knowledge_source_ids: SourceIds
    after: Annotated[dict[UUID, Seq], Field(max_length=MAX_SUBSCRIPTION, default_factory=dict)]


class Unsubscribe(Body):
    type: Literal["unsubscribe"]
    knowledge_source_ids: SourceIds


class Ping(Body):
    type: Literal["ping"]


class Pong(Body):
    type: Literal["pong"]


Command = Annotated[Subscribe | Unsubscribe | Ping | Pong, Field(discriminator="type")]
COMMAND: Final[TypeAdapter[Command]] = TypeAdapter(Command)

PING: Final = Message(type="ping", text='{"type":"ping"}')
PONG: Final = Message(type="pong", text='{"type":"pong"}')


def of_event(event: Event) -> Message:
    """The event's data plus `type`, `knowledgeSourceId`, `seq` and `at`, which are reserved."""
    return _message(
        event.type,
        {**event.data, "at": _utc(event.created_at)},
        source_id=event.source_id,
        seq=event.seq,
    )


def snapshot(source: SourceProgress, *, seq: int) -> Message:
    """The state of a source; its next event has the number `seq + 1`."""
    data = {
        "latestSeq": source.event_seq,
        "sourceType": source.source_type,
        "name": source.name,
        "uri": source.uri,
        "errorCode": source.error_code,
        "errorMessage": source.error_message,
        "chunkCount": source.chunk_count,
        **counts(source),
    }
    return _message("snapshot", data, source_id=source.id, seq=seq)


def counts(progress: ApplicationProgress) -> dict[str, Any]:
    """The fields of the progress endpoint, without `seq`."""
    return {
        "total": progress.total,
        "completed": progress.completed,
        "failed": progress.failed,
        "processing": progress.processing,
        "pending": progress.pending,
        "cancelled": progress.cancelled,
        "reviewNeeded": progress.review_needed,
        "percent": progress.percent,
        "etaSeconds": progress.eta_seconds,
        "status": progress.status,
    }


def error(code: str, detail: str, *, source_id: UUID | None = None) -> Message:
    return _message("error", {"code": code, "detail": detail}, source_id=source_id)


def not_found(source_id: UUID) -> Message:
    return error("not_found", "knowledge source not found", source_id=source_id)


def _message(
    type: str, data: Mapping[str, Any], *, source_id: UUID | None, seq: int | None = None
) -> Message:
    content = {**data, "type": type}
    if source_id is not None:
        content["knowledgeSourceId"] = source_id
    if seq is not None:
        content["seq"] = seq
    text = orjson.dumps(content).decode()
    return Message(type=type, text=text, source_id=source_id, seq=seq)


def _utc(time: datetime) -> str:
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")
