"""Tokenizers of models that an operator brings: `tokenizer.json` of the `tokenizers` library."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ingest.errors import SetupError

if TYPE_CHECKING:
    import tokenizers

_DIGEST_LENGTH: Final = 16
_LONGEST_WORD: Final = 100


@dataclass(frozen=True, slots=True)
class TokenizerFile:
    digest: str
    """The first 16 hexadecimal digits of the file's SHA-256."""
    path: Path

    @property
    def name(self) -> str:
        """What load_tokenizer() accepts. Parser processes load the file by it."""
        return f"{self.digest}@{self.path}"


def tokenizer_file(path: Path) -> TokenizerFile:
    """Identify a file. Raises SetupError if it cannot be read."""
    try:
        return TokenizerFile(_digest(path.read_bytes()), path)
    except OSError:
        raise SetupError(f"{path} cannot be read") from None


def split_name(name: str) -> TokenizerFile | None:
    """The file that a tokenizer's name stands for; None: it is one of ours."""
    digest, at, path = name.partition("@")
    return TokenizerFile(digest, Path(path)) if at else None


def identity(name: str) -> str:
    """What a tokenizer's name says about its tokens: all but the place of its file."""
    return name.partition("@")[0]


def load_json(path: Path, *, digest: str) -> "tokenizers.Tokenizer":
    """The tokenizer of a file, without padding and truncation. Raises SetupError.

    Names of special tokens in a text are plain text. WordPiece reads a word above 100 characters
    as one unknown token: as with our own, it is read in pieces instead.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers

    try:
        data = path.read_bytes()
    except OSError:
        data = b""
    if _digest(data) != digest:
        raise SetupError(f"{path} is missing or has changed: restart the service")
    try:
        loaded = Tokenizer.from_buffer(data)
    except Exception as error:  # the library raises plain Exception
        raise SetupError(f"{path} is not a tokenizer: {error}") from None
    loaded.no_padding()
    loaded.no_truncation()
    loaded.encode_special_tokens = True
    if isinstance(loaded.model, models.WordPiece) and loaded.pre_tokenizer is not None:
        loaded.pre_tokenizer = pre_tokenizers.Sequence(
            [loaded.pre_tokenizer, pre_tokenizers.FixedLength(_LONGEST_WORD)]
        )
    return loaded


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGEST_LENGTH]
