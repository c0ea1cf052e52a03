"""Counts that cost the same however many rows there are."""

from typing import Final, Self

from ingest.store.view import View

MOST_COUNTED: Final = 10_000


class StatusCount(View):
    status: str
    count: int
    """At most 10,000."""
    is_exact: bool
    """False: there are at least so many."""

    @classmethod
    def bounded(cls, status: str, found: int, *, is_complete: bool) -> Self:
        """`is_complete`: whether all rows were looked at, up to one more than are counted."""
        exact = is_complete and found <= MOST_COUNTED
        return cls(status=status, count=min(found, MOST_COUNTED), is_exact=exact)
