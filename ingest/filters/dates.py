"""Dates in filters: ISO 8601, as rag.instant() in the database reads them."""

import re
from datetime import UTC, datetime
from typing import Final

_ISO: Final = re.compile(
    r"[1-9]\d{3}-\d\d-\d\d"
    r"(?:[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?"
    r"(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)?)?",
    re.ASCII,
)


def instant(text: str) -> datetime | None:
    """The moment that a text names; None: it is no date. Without a zone it is UTC, without a time
    the first moment of the day."""
    if not _ISO.fullmatch(text):
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:  # 30 February
        return None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
