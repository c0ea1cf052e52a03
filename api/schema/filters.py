"""Filters of lists of sources and jobs: the same conditions in queries and in bodies."""

import json
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, Field

from api.problems import FieldRejected
from api.schema.json_model import Body, Metadata, Text, storable_json
from ingest.model import JobStatus, SourceStatus
from ingest.store.lists.source_lists import SourceFilter, SourceSort
from ingest.store.queue.job_views import JobFilter


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must contain more than spaces")
    return text


_SEARCHED: Final = (
    "In any case. A request reads the newest 100,000 sources, or 10,000 jobs, that the other "
    "conditions leave: a page may have few items, even none, and a `nextCursor` that reads on"
)
SearchedText = Annotated[Text, Field(min_length=1, max_length=500), AfterValidator(_not_blank)]
MetadataTerms = Annotated[
    list[Text],
    Field(
        max_length=20,
        description="`key=value`, repeatable: all must be in the metadata of the source. A value "
        'that is JSON counts as such: `year=2024` is the number, `year="2024"` the text. Reads as '
        "many rows as `q`",
    ),
]


class SourceConditions(Body):
    status: SourceStatus | None = None
    type: Literal["file", "url", "site"] | None = None
    batch_id: UUID | None = None
    uri: Annotated[Text | None, Field(description="The exact path or URL")] = None
    collection_id: UUID | None = None
    error_code: Text | None = None
    q: Annotated[
        SearchedText | None, Field(description=f"In the name, or the path or URL. {_SEARCHED}")
    ] = None
    since: Annotated[AwareDatetime | None, Field(description="Created then or later")] = None
    updated_since: Annotated[AwareDatetime | None, Field(description="Changed then or later")] = (
        None
    )

    def where(self, metadata: dict[str, Any] | None) -> SourceFilter:
        return SourceFilter(
            status=self.status,
            type=self.type,
            batch_id=self.batch_id,
            uri=self.uri,
            collection_id=self.collection_id,
            error_code=self.error_code,
            text=self.q,
            metadata=metadata or None,
            since=self.since,
            updated_since=self.updated_since,
        )


class JobConditions(Body):
    status: JobStatus | None = None
    type: Text | None = None
    knowledge_source_id: UUID | None = None
    batch_id: UUID | None = None
    parent_job_id: UUID | None = None
    error_code: Text | None = None
    collection_id: Annotated[
        UUID | None, Field(description="A collection that the job's source is in")
    ] = None
    q: Annotated[
        SearchedText | None,
        Field(
            description="In the name, or the path or URL, of the source, or of the file inside "
            f"it. {_SEARCHED}"
        ),
    ] = None
    since: Annotated[AwareDatetime | None, Field(description="Queued then or later")] = None

    def where(self, metadata: dict[str, Any] | None) -> JobFilter:
        return JobFilter(
            status=self.status,
            type=self.type,
            source_id=self.knowledge_source_id,
            batch_id=self.batch_id,
            parent_id=self.parent_job_id,
            error_code=self.error_code,
            collection_id=self.collection_id,
            text=self.q,
            metadata=metadata or None,
            since=self.since,
        )


_Limit = Annotated[int, Field(ge=1, le=200, description="Items per page")]
_Cursor = Annotated[str, Field(max_length=500, description="`nextCursor` of the last page")]


class SourceQuery(SourceConditions):
    metadata: MetadataTerms = Field(default_factory=list)


class SourceListQuery(SourceQuery):
    sort: Annotated[
        SourceSort,
        Field(
            description="Newest, last changed or largest first; a source without size counts as 0"
        ),
    ] = "createdAt"
    limit: _Limit = 50
    cursor: _Cursor | None = None


class JobQuery(JobConditions):
    metadata: MetadataTerms = Field(default_factory=list)


class JobListQuery(JobQuery):
    limit: _Limit = 50
    cursor: _Cursor | None = None


class SourceSelection(SourceConditions):
    """The conditions of the list; an empty object selects everything."""

    metadata: Metadata | None = None
    """Contained in the metadata of the source."""


class JobSelection(JobConditions):
    """The conditions of the list; an empty object selects everything."""

    metadata: Metadata | None = None
    """Contained in the metadata of the source."""


def metadata_of(terms: Sequence[str]) -> dict[str, Any] | None:
    """The object that `key=value` terms describe. Raises FieldRejected."""
    found: dict[str, Any] = {}
    for number, term in enumerate(terms):
        key, equals, text = term.partition("=")
        if not key or not equals:
            raise FieldRejected("must be key=value", loc=("query", "metadata", str(number)))
        try:
            found[key] = storable_json(json.loads(text))
        except (ValueError, RecursionError):
            found[key] = text
    return found or None
