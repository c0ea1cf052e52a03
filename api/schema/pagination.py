"""Pages of lists: `?limit=` and an opaque `?cursor=`, returned as `{items, nextCursor}`.

A cursor is the sort key of the last item, so every page costs the same, and rows that are added or
deleted meanwhile do not shift the pages.
"""

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

from fastapi import Query

from api.schema.json_model import storable
from ingest.errors import Rejected
from ingest.store.view import View

V = TypeVar("V", bound=View)
R = TypeVar("R")

Limit = Annotated[int, Query(ge=1, le=200, description="Items per page")]
Cursor = Annotated[str | None, Query(max_length=500, description="`nextCursor` of the last page")]


class Page(View, Generic[V]):
    """One page of a list; `nextCursor` is null on the last one."""

    items: list[V]
    next_cursor: str | None


def page(rows: Sequence[V], limit: int, *, key: Callable[[V], tuple[Any, ...]]) -> Page[V]:
    """A page from up to `limit + 1` rows: the extra row shows that there are more."""
    shown = rows[:limit]
    more = len(rows) > limit
    return Page(items=list(shown), next_cursor=encode_cursor(key(shown[-1])) if more else None)


def encode_cursor(key: tuple[Any, ...]) -> str:
    """A sort key of times, UUIDs, integers and names as URL-safe text."""
    values = [value.isoformat() if isinstance(value, datetime) else str(value) for value in key]
    return urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def time_and_id(cursor: str | None) -> tuple[datetime, UUID] | None:
    """Parse the sort key of lists by creation time; raises Rejected for an invalid cursor."""
    return _decode(cursor, lambda time, id: (_aware(time), UUID(id)))


def number_and_id(cursor: str | None) -> tuple[int, UUID] | None:
    """Parse the sort key of lists by size; raises Rejected for an invalid cursor."""
    return _decode(cursor, lambda number, id: (_number(number), UUID(id)))


def position(cursor: str | None) -> int | None:
    """Parse the sort key of lists by number; raises Rejected for an invalid cursor."""
    return _decode(cursor, _number)


def name(cursor: str | None) -> str | None:
    """Parse the sort key of lists by name; raises Rejected for an invalid cursor."""
    return _decode(cursor, storable)


def time_and_hash(cursor: str | None) -> tuple[datetime, bytes] | None:
    """Parse the sort key of judged questions; raises Rejected for an invalid cursor."""
    return _decode(cursor, lambda time, hash: (_aware(time), bytes.fromhex(hash)))


def only_id(cursor: str | None) -> UUID | None:
    """Parse the sort key of lists by id; raises Rejected for an invalid cursor."""
    return _decode(cursor, UUID)


def id_and_number(cursor: str | None) -> tuple[UUID, int] | None:
    """Parse the sort key of chunks; raises Rejected for an invalid cursor."""
    return _decode(cursor, lambda id, number: (UUID(id), _number(number)))


def _decode(cursor: str | None, build: Callable[..., R]) -> R | None:
    if cursor is None:
        return None
    try:
        text = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        values = json.loads(text)
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise ValueError("not a list of strings")
        return build(*values)
    except (binascii.Error, ValueError, TypeError, RecursionError):
        raise Rejected("the cursor is not valid", code="invalid_cursor") from None


def _aware(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError("a time without zone")
    return time


def _number(text: str) -> int:
    number = int(text)
    if not 0 <= number < 2**63:
        raise ValueError("out of range")
    return number
