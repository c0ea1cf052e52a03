"""What a search is asked, in requests: the query and its filter."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import BeforeValidator, Field, WithJsonSchema

from api.problems import FieldRejected
from api.schema.json_model import Body, Metadata, storable
from ingest.filters.model import Filter
from ingest.filters.parse import FilterRefused, parse, refuse_operators


def _not_blank(value: Any) -> Any:
    if isinstance(value, str):
        if not value.strip():
            raise ValueError("the query is empty")
        return storable(value)
    return value


Query = Annotated[str, BeforeValidator(_not_blank)]
Where = Annotated[
    Metadata,
    WithJsonSchema(
        {
            "type": "object",
            "description": "By field, a value or operators (`eq ne gt gte lt lte in nin exists "
            "prefix glob`) with their values; `and` and `or` with lists of filters, `not` with one",
            "examples": [{"metadata.year": {"gte": 2025}, "not": {"mediaType": "text/html"}}],
        }
    ),
]


class SearchFilter(Body):
    """What a hit must be; all members must hold."""

    knowledge_source_ids: Annotated[list[UUID], Field(max_length=1000)] | None = None
    collection_ids: Annotated[list[UUID], Field(max_length=1000)] | None = None
    """Only sources in one of these collections."""
    metadata: Metadata | None = None
    """Only sources whose metadata contain this object, as it is."""
    where: Where | None = None
    """Conditions on fields of documents and sources, see docs/api.md."""


def parsed(given: SearchFilter) -> Filter | None:
    """The conditions of a filter; raises FieldRejected for what is not understood."""
    member = "metadata"
    try:
        refuse_operators(given.metadata or {})
        member = "where"
        return None if given.where is None else parse(given.where)
    except FilterRefused as error:
        loc = ("body", "filter", member, *error.place)
        raise FieldRejected(str(error), loc=loc, code=error.code) from None
