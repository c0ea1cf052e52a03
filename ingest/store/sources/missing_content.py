"""Messages that say which content of a document is missing. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

_ADVICE = "text in pictures needs OCR that is on and knows its script, and sharp pictures"


def in_words(code: str | None, coverage: Mapping[str, Any] | None) -> str | None:
    """Why a document or its source is `partial`; None if the code says enough.

    `coverage` is the stored JSON.
    """
    if code == "embedding_rejected":
        return "the embedding provider refused some of the text; keyword search still finds it"
    if code == "embedding_mismatch":
        return "some of the text got no usable vector; keyword search still finds it"
    if code not in ("no_text", "corrupt") or coverage is None or not coverage["lost"]:
        return None
    lost, unread, failed = coverage["lost"], coverage["unread"], coverage["failed"]
    both = bool(unread and failed)
    reasons = [
        f"{count} {what}" if both else what
        for count, what in ((unread, "pictures only"), (failed, "damaged"))
        if count
    ]
    advice = f"; {_ADVICE}" if unread else ""
    return f"{_pages(lost, unread + failed)} could not be read: {', '.join(reasons)}{advice}"


def _pages(lost: Sequence[int], count: int) -> str:
    """`page 3`, `pages 3, 7-9 and 120 more`."""
    named = ", ".join(_ranges(lost))
    more = count - len(lost)
    rest = f" and {more} more" if more > 0 else ""
    return f"page{'' if count == 1 else 's'} {named}{rest}"


def _ranges(numbers: Sequence[int]) -> Iterator[str]:
    """Consecutive numbers as ranges: `7-9`."""
    for _, run in groupby(enumerate(sorted(numbers)), key=lambda item: item[1] - item[0]):
        found = [number for _, number in run]
        yield str(found[0]) if len(found) == 1 else f"{found[0]}-{found[-1]}"
