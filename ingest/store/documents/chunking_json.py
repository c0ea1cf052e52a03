"""Chunk settings as JSON, as documents store those with which they were chunked."""

import hashlib
from collections.abc import Sequence
from typing import Any

from ingest.model import ChunkSettings
from ingest.tokens.json_files import identity


def chunking_json(settings: ChunkSettings) -> dict[str, Any]:
    """JSON of chunk settings; equal if and only if they produce the same chunks."""
    cut = {
        "tokenizer": identity(settings.tokenizer),
        "size": settings.size,
        "overlap": settings.overlap,
        "by": settings.by,
    }
    digest = furniture_digest(settings.furniture)
    return cut if digest is None else {**cut, "furniture": digest}


def furniture_digest(furniture: Sequence[tuple[str, str]]) -> str | None:
    """A digest of what is left out of the pages of a site; None: nothing."""
    if not furniture:
        return None
    lines = sorted(" ".join(block) for block in furniture)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
