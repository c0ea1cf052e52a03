"""The header `Retry-After`: how long a provider asks us to wait."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime


def retry_after(headers: Mapping[str, str]) -> timedelta | None:
    """`Retry-After` in seconds or as a date, by the server's clock if it sends one; else None."""
    value = headers.get("retry-after", "").strip()
    try:
        return timedelta(seconds=max(float(value), 0))
    except (ValueError, OverflowError):
        pass
    try:
        until = parsedate_to_datetime(value)
        now = parsedate_to_datetime(headers["date"]) if "date" in headers else datetime.now(UTC)
        return max(until - now, timedelta(0))
    except (ValueError, TypeError, OverflowError):
        return None
