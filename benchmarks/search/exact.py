"""Recall: the share of the truly nearest chunks that a search finds."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from ingest.model import Vectors

# Tolerance for ties with the last of the nearest chunks; the database computes less precisely.
_EQUAL = 1e-6


class Exact:
    """Compares a question with all vectors."""

    def __init__(self, vectors: Vectors, ids: Sequence[UUID]) -> None:
        """`vectors` has the shape (chunks, dimension) and rows of length 1."""
        self._vectors = vectors
        self._numbers: Mapping[UUID, int] = {id: n for n, id in enumerate(ids)}

    def recall(
        self, found: Sequence[UUID], *, question: NDArray[np.float32], among: NDArray[np.bool_]
    ) -> float:
        """The share of the nearest chunks that is in `found`; `among`: the chunks that count.

        `found` must contain 10 chunks, or all that count if there are fewer.
        """
        likeness = self._vectors @ (question / np.linalg.norm(question))
        wanted = min(10, int(among.sum()))
        assert len(found) >= wanted, f"{len(found)} hits where there are {wanted}"
        last = np.partition(likeness[among], -wanted)[-wanted]
        numbers = [self._numbers[id] for id in found]
        assert all(among[number] for number in numbers), "a chunk that must not be found"
        near = sum(likeness[number] >= last - _EQUAL for number in numbers)
        return min(int(near), wanted) / wanted
