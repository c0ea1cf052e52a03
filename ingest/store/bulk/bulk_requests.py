"""A bulk action as it is asked for, and its filter as JSON of a payload and for statements."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from pydantic import TypeAdapter

from ingest.payloads import BulkPayload
from ingest.store.lists import job_lists
from ingest.store.lists.source_lists import SourceFilter
from ingest.store.queue.job_views import JobFilter

_SOURCE_FILTER: Final = TypeAdapter(SourceFilter)
_JOB_FILTER: Final = TypeAdapter(JobFilter)


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkRequest:
    application_id: UUID
    where: SourceFilter | JobFilter
    """Rows of the filter; its class says of what."""
    ids: Sequence[UUID] | None
    """Only these among them; None: all."""
    payload: BulkPayload
    """The action; its filter is that of `where`."""


def filter_json(where: SourceFilter | JobFilter) -> dict[str, Any]:
    adapter: TypeAdapter[Any] = _SOURCE_FILTER if isinstance(where, SourceFilter) else _JOB_FILTER
    json: dict[str, Any] = adapter.dump_python(where, mode="json")
    return {name: value for name, value in json.items() if value is not None}


def filter_of(payload: BulkPayload) -> SourceFilter | JobFilter:
    """The filter of a payload. Raises ValidationError if another version wrote it."""
    adapter: TypeAdapter[Any] = _SOURCE_FILTER if payload.target == "sources" else _JOB_FILTER
    where: SourceFilter | JobFilter = adapter.validate_python(payload.filter)
    return where


def filter_parameters(request: BulkRequest) -> dict[str, Any]:
    """The filter as the statements of this package take it."""
    ids = None if request.ids is None else list(request.ids)
    if isinstance(request.where, SourceFilter):
        return {**request.where.parameters(request.application_id), "ids": ids}
    return {**job_lists.parameters(request.application_id, request.where), "ids": ids}
