"""Small, different text files, with vectors that need not be embedded one by one."""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pydoc_data.topics import topics
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingest.providers.embedders.factory import build_embedder
from ingest.settings.settings import Settings

SIZE = 1000
"""Approximate number of characters, so that each text is one chunk."""
_SENTENCES = 1500
# Tables and code, which the chunker would not treat as prose.
_DRAWN = re.compile(r"[|+`]|--|>>>")


@dataclass(frozen=True, slots=True)
class Text:
    content: str
    vector: NDArray[np.float32]


class Texts:
    """Shuffled sentences of Python's own manual."""

    def __init__(self) -> None:
        manual = " ".join(" ".join(topics.values()).split())
        parts = re.split(r"(?<=[.:]) ", manual)
        found = [part for part in parts if 30 < len(part) < 400 and not _DRAWN.search(part)]
        self._sentences = found[:_SENTENCES]
        self._vectors = asyncio.run(_embed(self._sentences))
        self._lengths = np.array([len(sentence) for sentence in self._sentences], np.float32)

    def make(self, count: int, *, seed: int) -> Iterator[Text]:
        """`count` texts; the same seed gives the same texts.

        A vector is the mean of its sentences' vectors, weighted by length. A static embedder, which
        takes the mean over all tokens, would give the same, except for tokens at the borders of
        sentences.
        """
        rng = np.random.default_rng(seed)
        wanted = int(SIZE / self._lengths.mean()) + 1
        for number in range(count):
            chosen = rng.integers(0, len(self._sentences), wanted)
            body = " ".join(self._sentences[n] for n in chosen)
            mean = self._lengths[chosen] @ self._vectors[chosen]
            yield Text(
                content=f"# Document {number} of {seed}\n\n{body}\n",
                vector=mean / np.linalg.norm(mean),
            )


async def _embed(sentences: list[str]) -> Any:
    embedder = await build_embedder(Settings(embedder="static"))
    step = embedder.max_items
    parts = [
        await embedder.embed(sentences[at : at + step]) for at in range(0, len(sentences), step)
    ]
    await embedder.close()
    return np.concatenate(parts)
