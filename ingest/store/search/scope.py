"""Where a search looks, and what it finds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from psycopg.types.json import Jsonb

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
    is_hasty: bool = False
    """Faster: an unfiltered search may rank deleted chunks not yet purged; `load` drops them."""

    @property
    def is_filtered(self) -> bool:
        return self.source_ids is not None or self.metadata is not None

    @property
    def finds_deleted(self) -> bool:
        return self.is_hasty and not self.is_filtered

    def parameters(self) -> dict[str, Any]:
        return {
            "application_id": self.application_id,
            "source_ids": None if self.source_ids is None else list(self.source_ids),
            "metadata": None if self.metadata is None else Jsonb(dict(self.metadata)),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A chunk found; higher scores are better, but comparable only within one kind of search."""

    id: UUID
    score: float
