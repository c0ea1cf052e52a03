"""Chunks on many subjects, and questions whose words match no chunk exactly."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pydoc_data.topics import topics
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ingest.model import Vectors
from ingest.providers.embedders.base import Embedder
from ingest.providers.embedders.factory import build_embedder
from ingest.settings.settings import Settings

_SENTENCES_PER_CHUNK: Final = 6
_ON_SUBJECT: Final = 0.7
"""The share of a chunk's sentences that are on its subject."""
_WORDS: Final = (4, 10)
"""Smallest and largest number of words of a question."""
_SEED: Final = 20
_AT_ONCE: Final = 10_000
# Tables and code, unlike text that people write.
_DRAWN: Final = re.compile(r"[|+`]|--|>>>")


@dataclass(frozen=True, slots=True)
class Chunks:
    texts: Sequence[str]
    vectors: Vectors
    """(texts, dimension), of length 1."""


class Texts:
    """Sentences of Python's own manual; no chunk contains a sentence used for a question."""

    def __init__(self, *, questions: int) -> None:
        self.embedder = asyncio.run(build_embedder(Settings(embedder="static")))
        rng = np.random.default_rng(_SEED)
        by_subject = [sentences for text in topics.values() if (sentences := _sentences(text))]
        pairs = {text: n for n, found in enumerate(by_subject) for text in found}
        sentences = list(pairs)
        kept_back = set(rng.choice(len(sentences), questions, replace=False).tolist())
        self.questions = [_question(sentences[n], rng) for n in sorted(kept_back)]
        self._sentences = [text for n, text in enumerate(sentences) if n not in kept_back]
        self._lengths = np.array([len(text) for text in self._sentences], np.float32)
        subjects = np.array([pairs[text] for text in self._sentences])
        self._by_subject = np.argsort(subjects, kind="stable")
        _, self._starts, self._sizes = np.unique(
            subjects[self._by_subject], return_index=True, return_counts=True
        )
        self._vectors = embed(self.embedder, self._sentences)
        self.question_vectors = embed(self.embedder, self.questions)

    def chunks(self, count: int) -> Chunks:
        """`count` chunks; the same at every call.

        A vector is the mean of its sentences' vectors, weighted by length. A static embedder, which
        takes the mean over all tokens, would give the same, except for tokens at the borders of
        sentences.
        """
        chosen = self._choose(count)
        weights = self._lengths[chosen]
        vectors = np.empty((count, self._vectors.shape[1]), np.float32)
        for start in range(0, count, _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            sums = np.einsum("cs,csd->cd", weights[part], self._vectors[chosen[part]])
            vectors[part] = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        texts = [
            f"Note {number}. {' '.join(self._sentences[n] for n in sentences)}"
            for number, sentences in enumerate(chosen.tolist())
        ]
        return Chunks(texts, vectors)

    def _choose(self, count: int) -> NDArray[np.int64]:
        """The sentences of each chunk: most are on one subject. Shape (chunks, sentences)."""
        rng = np.random.default_rng(_SEED + 1)
        shape = (count, _SENTENCES_PER_CHUNK)
        subjects = rng.integers(0, len(self._sizes), count)
        within = (rng.random(shape) * self._sizes[subjects, None]).astype(np.int64)
        near = self._by_subject[self._starts[subjects, None] + within]
        anywhere = rng.integers(0, len(self._sentences), shape)
        return np.where(rng.random(shape) < _ON_SUBJECT, near, anywhere)


def _sentences(text: str) -> list[str]:
    parts = re.split(r"(?<=[.:]) ", " ".join(text.split()))
    return [part for part in parts if 40 < len(part) < 400 and not _DRAWN.search(part)]


def _question(sentence: str, rng: np.random.Generator) -> str:
    """Several consecutive words of a sentence, as people type them into a search field."""
    words = re.findall(r"\w+", sentence.lower())
    length = int(rng.integers(*_WORDS, endpoint=True))
    start = int(rng.integers(0, max(1, len(words) - length + 1)))
    return " ".join(words[start : start + length])


def embed(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """The vectors, of shape (texts, dimension)."""

    async def all_batches() -> list[Vectors]:
        step = embedder.max_items
        return [await embedder.embed(texts[at : at + step]) for at in range(0, len(texts), step)]

    return np.concatenate(asyncio.run(all_batches()))
