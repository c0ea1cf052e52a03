"""The static embedder of all contestants: the sum of a text's token vectors, scaled to length 1.

It gives the same vectors as this project's own embedder, at the same speed: it tokenises each
distinct word once.
"""

import re
from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer, normalizers

DIMENSION = 256
# In the vocabulary, no token has a space after another character, or a line end next to one.
_PIECE = re.compile(r"[ ▁]*+[^ ▁\n]+|\n+|[ ▁]+")


class _Memo(dict[str, tuple[int, ...]]):
    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__()
        self._tokenizer = tokenizer

    def __missing__(self, piece: str) -> tuple[int, ...]:
        ids = tuple(self._tokenizer.encode(piece, add_special_tokens=False).ids)
        if len(piece) <= 64:
            self[piece] = ids
        return ids


class StaticEmbedder:
    def __init__(self, *, weights: str, tokenizer: str) -> None:
        self._vectors = load_file(weights)["embedding.weight"].astype(np.float32)
        loaded = Tokenizer.from_file(tokenizer)
        loaded.encode_special_tokens = True
        # A piece contains its own leading space, so none is prepended.
        loaded.normalizer = normalizers.Replace(" ", "▁")
        self._memo = _Memo(loaded)

    def tokens(self, text: str) -> list[int]:
        """The ids of a text's tokens."""
        return list(chain.from_iterable(map(self._memo.__getitem__, _PIECE.findall(" " + text))))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (texts, DIMENSION); each vector has length 1."""
        sums = np.stack([self._vectors[self.tokens(text)].sum(axis=0) for text in texts])
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return (sums / lengths).astype(np.float32)
