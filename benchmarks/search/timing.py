"""The time of each of many questions, asked by one client or by several concurrently."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

Mode = Literal["vector", "keyword", "hybrid"]
MODES: Final[Sequence[Mode]] = ("vector", "keyword", "hybrid")
LIMIT: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    text: str
    vector: NDArray[np.float32]
    """For contestants that do not embed questions themselves."""
    application: UUID
    mode: Mode = "hybrid"
    filter: dict[str, Any] = field(default_factory=dict)
    """As in a request to POST /api/search."""


Ask = Callable[[Question], object]


def spent(
    client: Callable[[], AbstractContextManager[Ask]],
    questions: Sequence[Question],
    *,
    clients: int,
) -> list[float]:
    """Milliseconds of each question. Each client asks its share of the questions in sequence."""

    def ask_share(number: int) -> list[float]:
        with client() as ask:
            ask(questions[0])  # open the connection before the clock starts
            return [milliseconds(ask, question) for question in questions[number::clients]]

    with ThreadPoolExecutor(clients) as threads:
        shares = threads.map(ask_share, range(clients))
        return [took for share in shares for took in share]


def milliseconds(ask: Ask, question: Question) -> float:
    started = time.perf_counter()
    ask(question)
    return (time.perf_counter() - started) * 1000


def percentile(values: Sequence[float], percent: float) -> float:
    return float(np.percentile(values, percent))
