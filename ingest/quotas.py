"""What an application may use at most, what it uses, and what each API key may do at once. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal, Self, TypeVar, get_args

Quota = Literal["storedBytes", "stagedBytes", "sources", "pendingJobs", "uploads", "sockets"]

LARGEST: Final = 10**15
_GIB: Final = 1024**3

# Quotas of which room comes back by itself: as jobs, uploads and connections end.
_TRANSIENT: Final[frozenset[Quota]] = frozenset(
    {"stagedBytes", "pendingJobs", "uploads", "sockets"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What an application uses now."""

    stored_bytes: int = 0
    """Bytes of the files of its knowledge sources, and of the text of their documents."""
    staged_bytes: int = 0
    """Bytes of files that wait, are being processed, have failed, or wait for a review."""
    sources: int = 0
    pending_jobs: int = 0
    """Jobs that wait or run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """The most that an application may use; the defaults apply unless settings change them."""

    stored_bytes: int = 1024 * _GIB
    staged_bytes: int = 256 * _GIB
    sources: int = 10_000_000
    pending_jobs: int = 2_000_000
    uploads: int = 100
    """Uploads at once, per API process."""
    sockets: int = 5_000
    """WebSockets and event streams at once, per API process."""

    def overridden_by(self, stored: Any) -> Self:
        """With the values that an application has of its own (JSON)."""
        own = own_quotas(stored)
        fields_by_name = {camel_case(name): name for name in _names(self)}
        return replace(self, **{fields_by_name[name]: value for name, value in own.items()})


DEFAULTS: Final = Quotas()


def own_quotas(stored: Any) -> dict[Quota, int]:
    """Quotas in the settings of an application (JSON), without invalid ones.

    The SQL function `rag.quota` has the same rule.
    """
    given = stored if isinstance(stored, Mapping) else {}
    return {
        name: round(value)
        for name in get_args(Quota)
        if isinstance(value := given.get(name), int | float)
        and not isinstance(value, bool)
        and 0 <= value <= LARGEST
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLimits:
    """The most that one API key may do at once, per API process; 0: no limit."""

    searches: int = 32
    uploads: int = 32
    sockets: int = 1_000


T = TypeVar("T", Quotas, KeyLimits)


def parse(text: str, defaults: T) -> T:
    """Read `name:number,…`; names are in camelCase, those left out keep their default.

    Raises ValueError.
    """
    known = {camel_case(name): name for name in _names(defaults)}
    given: dict[str, int] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = entry.partition(":")
        if name.strip() not in known:
            raise ValueError(f"{name.strip()!r} is not one of {', '.join(known)}")
        if not number.strip().isdecimal() or int(number) > LARGEST:
            raise ValueError(f"{name.strip()} needs a number from 0 to 10^15")
        given[known[name.strip()]] = int(number)
    return replace(defaults, **given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Excess:
    """A quota that a request would exceed."""

    quota: Quota
    limit: int
    used: int
    needed: int = 1

    @property
    def ends_by_itself(self) -> bool:
        """Whether the same request may succeed later although nobody acts."""
        return self.quota in _TRANSIENT and self.needed <= self.limit

    def __str__(self) -> str:
        return (
            f"quota {self.quota}: {self.used} of {self.limit} are in use,"
            f" and this needs {self.needed}"
        )


@dataclass(slots=True, kw_only=True)
class Room:
    """What an application may still take; `take` subtracts."""

    quotas: Quotas
    used: Usage

    def excess(
        self, *, sources: int = 0, staged_bytes: int = 0, stored_bytes: int = 0, jobs: int = 0
    ) -> Excess | None:
        """The first quota that taking this would exceed.

        Staged bytes will be stored, so they count towards stored bytes too.
        """
        limits, used = self.quotas, self.used
        stored = used.stored_bytes + used.staged_bytes
        wanted: tuple[tuple[Quota, int, int, int], ...] = (
            ("sources", limits.sources, used.sources, sources),
            ("storedBytes", limits.stored_bytes, stored, staged_bytes + stored_bytes),
            ("stagedBytes", limits.staged_bytes, used.staged_bytes, staged_bytes),
            ("pendingJobs", limits.pending_jobs, used.pending_jobs, jobs),
        )
        return next(
            (
                Excess(quota=quota, limit=limit, used=taken, needed=needed)
                for quota, limit, taken, needed in wanted
                if needed and taken + needed > limit
            ),
            None,
        )

    def take(self, *, sources: int = 0, staged_bytes: int = 0, jobs: int = 0) -> Excess | None:
        """Take this if it fits; otherwise take nothing and return what is exceeded."""
        excess = self.excess(sources=sources, staged_bytes=staged_bytes, jobs=jobs)
        if excess is None:
            self.used = Usage(
                stored_bytes=self.used.stored_bytes,
                staged_bytes=self.used.staged_bytes + staged_bytes,
                sources=self.used.sources + sources,
                pending_jobs=self.used.pending_jobs + jobs,
            )
        return excess

    @property
    def jobs(self) -> int:
        """How many more jobs fit."""
        return max(0, self.quotas.pending_jobs - self.used.pending_jobs)


def camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _names(of: Quotas | KeyLimits) -> tuple[str, ...]:
    return tuple(field.name for field in fields(of))
