"""The work of all contestants: the same files, chunk size and endpoint."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.core.texts import text_files
from benchmarks.provider.server import DIMENSION, MOST_TOKENS
from ingest.tokens.tokenizers import load_tokenizer

MODEL: Final = "text-embedding-3-small"
TOKENS: Final = 512
OVERLAP: Final = 64
LATENCY_SECONDS: Final = 0.08

# With this many texts, a request never exceeds the token limit, so none is rejected. The maximum of
# 2,048 texts would have four times as many tokens.
_TEXTS_PER_REQUEST: Final = MOST_TOKENS // TOKENS
_SEED: Final = 80


@dataclass(frozen=True, slots=True)
class Work:
    folder: Path
    files: Sequence[Path]
    bytes_per_token: float

    def arguments(self, *, url: str, base_url: str) -> dict[str, Any]:
        """The arguments of a peer's script. `url`: its database."""
        return {
            "folder": str(self.folder),
            "url": url,
            "base_url": base_url,
            "model": MODEL,
            "dimension": DIMENSION,
            "texts_per_request": _TEXTS_PER_REQUEST,
            "tokens": TOKENS,
            "overlap": OVERLAP,
            "bytes_per_token": self.bytes_per_token,
        }


def prepare(folder: Path, count: int) -> Work:
    """Write the files into a folder for the peers."""
    contents = [content for _, content in text_files(count, seed=_SEED)]
    files = []
    for number, content in enumerate(contents):
        file = folder / f"{number:04}.md"
        file.write_bytes(content)
        files.append(file)
    text = b"".join(contents[:50])
    tokens = load_tokenizer("cl100k_base").count(text.decode())
    return Work(folder, files, len(text) / tokens)
