"""Questions with what is known to answer them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


class Target(NamedTuple):
    """Where an answer is."""

    document: str | None = None
    page: int | None = None
    quote: str | None = None
    gain: float = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    id: str
    text: str
    targets: Sequence[Target]
    filter: Mapping[str, Any] | None = None


def normal_id(id: str) -> str:
    """An id without leading zeros, which collections write in one file and not in the other."""
    return id.lstrip("0") or "0" if id.isdecimal() else id
