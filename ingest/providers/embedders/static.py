"""Static embeddings (WordLlama): the mean of a text's token vectors. Fast, without attention."""

import asyncio
from collections.abc import Sequence

import numpy as np

from ingest.errors import SetupError
from ingest.model import EmbeddingModel, Vectors
from ingest.providers.embedders.base import unit_vectors
from ingest.tokens.pieces import WORDLLAMA_PIECE, PieceCache
from ingest.tokens.pinned_files import read
from ingest.tokens.vocabularies import WORDLLAMA, load_wordllama, wordllama_folder

_DIMENSION = 256
_SHORT = 500
"""Characters, each text counted as some more. A question of a few words takes 0.01 ms, and to hand
it to a thread 0.3; of letters that the tokenizer has not seen, at most 0.8."""
_EACH_TEXT = 10
"""The vector of a text takes as long as so many characters."""
_SHA256 = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"


class StaticEmbedder:
    """Pools the token vectors itself: the package's `embed` pads and is three times slower for the
    same vectors."""

    # The model has no token limit; max_tokens is the longest chunk that can be configured.
    model = EmbeddingModel(
        provider="static",
        name="wordllama-l2-supercat-256",
        dimension=_DIMENSION,
        max_tokens=8192,
        tokenizer="wordllama",
    )
    max_items = 1024
    max_request_tokens = 65_536  # about 50 ms
    concurrency = 1  # CPU-bound: more would not be faster
    lane: str | None = None

    def __init__(self) -> None:
        """Load the model in at most a second. Raises SetupError if it is not installed or not
        the tested one."""
        folder = wordllama_folder()
        try:
            from safetensors.numpy import load  # comes with the optional extra
        except ImportError:
            raise SetupError('run pip install "rag-ingest[static]"') from None
        file = folder / "weights" / f"l2_supercat_{_DIMENSION}.safetensors"
        weights = load(read(file, sha256=_SHA256, package=WORDLLAMA))
        self._vectors = weights["embedding.weight"].astype(np.float32)
        self._model = load_wordllama().model
        self._cache = PieceCache(self._ids_of_piece)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if sum(len(text) + _EACH_TEXT for text in texts) <= _SHORT:
            return self._embed(texts)
        return await asyncio.to_thread(self._embed, texts)

    async def close(self) -> None:
        """Nothing to close."""

    def _embed(self, texts: Sequence[str]) -> Vectors:
        sums = np.empty((len(texts), _DIMENSION), np.float32)
        for row, text in enumerate(texts):
            ids = self._cache.concatenate(WORDLLAMA_PIECE.findall(" " + text))
            sums[row] = self._vectors[ids].sum(axis=0)
        # The vectors are normalised anyway, so a sum is as good as a mean.
        return unit_vectors(sums, count=len(texts), dimension=_DIMENSION)

    def _ids_of_piece(self, piece: str) -> tuple[int, ...]:
        return tuple(token.id for token in self._model.tokenize(piece.replace(" ", "▁")))
