"""An embedder of your own in one file: words are hashed to dimensions, without a model.

INGEST_EMBEDDER=hashing_embedder:HashingEmbedder uses it. Texts are close if they share words.
"""

import re
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from ingest.extend.embedders import EmbeddingModel, Vectors, unit_vectors

_DIMENSION = 512
_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Feature hashing: each word adds 1 or -1 to one dimension."""

    # Another name is another vector space: change it whenever the vectors change.
    model = EmbeddingModel(
        provider="example",
        name="hashed-words-1",
        dimension=_DIMENSION,
        max_tokens=512,
        tokenizer="minilm",
    )
    max_items = 256
    max_request_tokens = 65_536
    concurrency = 1
    lane: str | None = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, (len(texts), dimension)."""
        sums = np.zeros((len(texts), _DIMENSION), np.float32)
        sums[:, 0] = 1e-6  # a text without words must not have a vector of zeros
        for row, text in enumerate(texts):
            for word in _WORD.findall(text.lower()):
                hashed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest())
                sums[row, hashed % _DIMENSION] += 1 if hashed >> 63 else -1
        return unit_vectors(sums, count=len(texts), dimension=_DIMENSION)

    async def close(self) -> None:
        """Nothing to close."""
