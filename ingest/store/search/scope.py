"""Where a search looks, and what it finds."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from psycopg import sql
from psycopg.types.json import Jsonb

from ingest.filters.model import Filter
from ingest.store.search.filter_condition import Condition, fill

STATEMENT_TIMEOUT: Final = timedelta(seconds=5)
"""Time limit of each statement of a search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchScope:
    """The application to search, and optional filters."""

    application_id: UUID
    source_ids: Sequence[UUID] | None = None
    """Only these sources; None: all."""
    metadata: Mapping[str, Any] | None = None
    """Only sources whose metadata contain this; None: all."""
    collection_ids: Sequence[UUID] | None = None
    """Only sources in one of these collections; None: all."""
    visible_in: Sequence[UUID] | None = None
    """The collections that the caller may see; None: everything."""
    filter: Filter | None = None
    """Only documents that pass."""
    document_ids: Sequence[UUID] | None = None
    """The documents that pass all of these, if they are known to be few (`matching`)."""
    is_hasty: bool = False
    """Faster: an unfiltered search may rank deleted chunks not yet purged; `load` drops them."""

    @property
    def is_filtered(self) -> bool:
        narrow = (self.source_ids, self.metadata, self.filter, self.document_ids)
        collections = (self.collection_ids, self.visible_in)
        return any(part is not None for part in (*narrow, *collections))

    @property
    def finds_deleted(self) -> bool:
        return self.is_hasty and not self.is_filtered

    def filter_key(self) -> int:
        """Equal for equal filters of an application."""
        lists = (self.source_ids, self.collection_ids, self.visible_in)
        return hash(
            (
                self.application_id,
                *(None if ids is None else tuple(ids) for ids in lists),
                json.dumps(self.metadata, sort_keys=True),
                self.filter,
            )
        )

    def fill_in(
        self, statement: bytes, **parts: sql.Composable
    ) -> tuple[sql.Composed, dict[str, Any]]:
        """The statement with the condition `{passes}` and other parts, and the parameters of both.

        It names the chunk `chunk`, the document `document` and the source `source`.
        """
        condition = Condition(visible_in=self.visible_in)
        conditions: list[sql.Composable] = []
        if self.document_ids is not None:
            conditions.append(fill("documents", value=condition.value(list(self.document_ids))))
        else:
            if self.source_ids is not None:
                conditions.append(fill("sources", value=condition.value(list(self.source_ids))))
            conditions.extend(
                fill("in_collections", value=condition.value(list(ids)))
                for ids in (self.collection_ids, self.visible_in)
                if ids is not None
            )
            if self.metadata is not None:
                wanted = condition.value(Jsonb(dict(self.metadata)))
                conditions.append(fill("contains", value=wanted))
            if self.filter is not None:
                conditions.append(condition.of(self.filter))
        passes = sql.SQL(" and ").join(conditions) if conditions else sql.SQL("true")
        composed = sql.SQL(statement.decode()).format(passes=passes, **parts)
        return composed, {"application_id": self.application_id, **condition.parameters}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A chunk found; higher scores are better, but comparable only within one kind of search."""

    id: UUID
    score: float
