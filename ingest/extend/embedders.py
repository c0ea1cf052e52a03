"""What an embedder imports. INGEST_EMBEDDER names its factory; see docs/extending.md."""

from ingest.errors import ErrorCode, SetupError, Transient
from ingest.model import EmbeddingModel, Vectors
from ingest.providers.embedders.base import (
    Embedder,
    Misaligned,
    NarrowEmbedder,
    ProviderFault,
    QueryEmbedder,
    Refused,
    unit_vectors,
)

__all__ = [
    "Embedder",
    "EmbeddingModel",
    "ErrorCode",
    "Misaligned",
    "NarrowEmbedder",
    "ProviderFault",
    "QueryEmbedder",
    "Refused",
    "SetupError",
    "Transient",
    "Vectors",
    "unit_vectors",
]
