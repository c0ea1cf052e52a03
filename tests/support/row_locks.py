"""The locks that a statement takes, in order.

They are read from the text of the statement. `for key share` locks, which foreign keys take on
parent rows, are not included: only deletes and `for update` conflict with them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from ingest.postgres.database import load_queries

_STORE: Final = Path(__file__).parents[2] / "ingest" / "store"
_VIEWS: Final = {"rag.ready_jobs": "rag.processing_jobs"}
_NOISE: Final = re.compile(r"--[^\n]*|'(?:[^']|'')*'")
_TOKEN: Final = re.compile(r"(?:rag|app)\.\w+|\w+|[(),;]")


class Lock(NamedTuple):
    name: str
    """A table, or the number of an advisory lock."""
    waits: bool
    """False with `skip locked`, `nowait` and `try`: such a lock never waits in a deadlock."""


@dataclass(slots=True)
class _Query:
    """A query or statement in parentheses."""

    tables: dict[str, str] = field(default_factory=dict)
    """Tables by alias."""
    inserted: tuple[int, str] | None = None


def statements() -> Mapping[bytes, str]:
    """The names of all statements (`queue/jobs.sql: hold`), by their text."""
    files = sorted(path.relative_to(_STORE) for path in _STORE.rglob("*.sql"))
    return {
        text: f"{file}: {name}" for file in files for name, text in load_queries(str(file)).items()
    }


@cache
def locks(statement: bytes) -> Sequence[Lock]:
    """The locks in order of the text, in which Postgres takes them for our statements."""
    words = _TOKEN.findall(_NOISE.sub("''", statement.decode().lower()))
    tokens = [word for word in words if word != "only"]
    found: list[Lock | None] = []
    open_queries = [_Query()]
    for n, token in enumerate(tokens):
        query, before = open_queries[-1], tokens[n - 1] if n else ""
        if token == "(":
            open_queries.append(_Query())
        elif token == ")":
            open_queries.pop()
        elif token == ";":
            open_queries = [_Query()]
        elif "." in token:
            _table(token, n, tokens, query, found)
        elif token == "conflict" and before == "on" and query.inserted:
            place, table = query.inserted
            found[place] = Lock(table, waits=True)
        elif token == "for" and tokens[n + 1] in ("update", "share", "no", "key"):
            found += _row_locks(tokens[n + 1 :], query)
        elif "advisory" in token:
            [number] = re.findall(r"\b7245\d+", " ".join(tokens[n : n + 24])) or ["0"]
            found.append(Lock(number, waits="try" not in token))
    return _first_of_each(found)


def _first_of_each(found: Sequence[Lock | None]) -> Sequence[Lock]:
    """Drop repeated locks: writing rows that the statement has locked takes no further lock."""
    first: dict[str, Lock] = {}
    for lock in found:
        if lock is not None:
            first.setdefault(lock.name, lock)
    return list(first.values())


def _table(
    token: str, n: int, tokens: Sequence[str], query: _Query, found: list[Lock | None]
) -> None:
    table, before = _VIEWS.get(token, token), tokens[n - 1] if n else ""
    following = [*tokens[n + 1 : n + 3], "", ""]
    alias = following[1] if following[0] == "as" else token.partition(".")[2]
    if before in ("from", "join", ",", "using", "update"):
        query.tables[alias] = table
    if (before == "update" and tokens[n - 2] not in ("for", "key")) or (
        before == "from" and tokens[n - 2] == "delete"
    ):
        found.append(Lock(table, waits=True))
    elif before == "into":
        query.inserted = len(found), table
        found.append(None)


def _row_locks(tokens: Sequence[str], query: _Query) -> Iterator[Lock]:
    words = tokens[:12]
    strength = 1 + next(n for n, word in enumerate(words) if word in ("update", "share"))
    rest = words[strength:]
    aliases: Sequence[str] = list(query.tables)
    if rest[:1] == ["of"]:
        aliases, rest = rest[1:2], rest[2:]
    waits = rest[:2] != ["skip", "locked"] and rest[:1] != ["nowait"]
    for alias in aliases:
        yield Lock(query.tables[alias], waits=waits)
