"""Where the time of a hybrid search goes: its statements, the question's embedding, HTTP."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Final

from psycopg import AsyncCursor
from psycopg.sql import Composable

from benchmarks.core.results import Table
from benchmarks.search.installation import Installation
from benchmarks.search.timing import Question
from ingest.postgres.database import load_queries
from ingest.runtime import Runtime

_NAMES: Final[Mapping[bytes, str]] = {
    body.partition(b"{")[0]: name
    for file in ("search/vector_search.sql", "search/keyword_search.sql", "search/hits.sql")
    for name, body in load_queries(file).items()
}
"""By the text of the statement, up to the first literal that is filled in."""


@dataclass(slots=True)
class _Watch:
    milliseconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    calls: Counter[str] = field(default_factory=Counter)


def shares(place: Installation) -> Table:
    """The mean milliseconds of each part, with questions asked one by one."""
    questions = place.asked("hybrid")
    with _watched() as watch:
        # One untimed question is also asked, to open the connection.
        function = fmean(place.by_function(questions))
    asked = len(questions) + 1
    embedding = place.function.run(_embedding(place.function.runtime, questions))
    statements = {name: spent / asked for name, spent in watch.milliseconds.items()}
    http = fmean(place.by_http(questions))
    rows = [
        _row("the question's vector", embedding, function, 1),
        *(_row(f"`{name}`", spent, function, watch.calls[name] / asked)
          for name, spent in sorted(statements.items(), key=lambda item: -item[1])),
        _row("**the function**", function, function, 1),
        _row("HTTP, the key, JSON", http - function, function, 1),
    ]  # fmt: skip
    return Table(
        title=f"Where a hybrid search spends its time, {place.title}",
        columns=["", "ms", "of the function", "times per search"],
        rows=rows,
        note="Means. Statements by their names in `ingest/store/search/*.sql`, from sending to the "
        "answer; to watch them costs a little, too. "
        "Meaning and words are asked at once: the parts add up to more than the whole.",
    )


def _row(name: str, spent: float, whole: float, times: float) -> list[str]:
    return [name, f"{spent:.2f}", f"{spent / whole:.0%}", f"{times:.2g}"]


async def _embedding(runtime: Runtime, questions: Sequence[Question]) -> float:
    """Mean milliseconds to embed a question."""
    started = time.perf_counter()
    for question in questions:
        await runtime.embedder.embed_query(question.text, len(question.text))
    return (time.perf_counter() - started) * 1000 / len(questions)


@contextmanager
def _watched() -> Iterator[_Watch]:
    """Measure every statement of this process while the block runs."""
    watch = _Watch()
    execute = AsyncCursor.execute

    async def timed(self: AsyncCursor[Any], query: Any, *args: Any, **kwargs: Any) -> Any:
        started = time.perf_counter()
        try:
            return await execute(self, query, *args, **kwargs)
        finally:
            name = _name(query)
            watch.milliseconds[name] += (time.perf_counter() - started) * 1000
            watch.calls[name] += 1

    AsyncCursor.execute = timed  # type: ignore[method-assign]  # given back below
    try:
        yield watch
    finally:
        AsyncCursor.execute = execute  # type: ignore[method-assign]


def _name(query: Any) -> str:
    text = query.as_bytes() if isinstance(query, Composable) else query
    names = [
        name for start, name in _NAMES.items() if isinstance(text, bytes) and text.startswith(start)
    ]
    return names[0] if names else "others"
