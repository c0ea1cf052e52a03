"""A model of the operator's own, as ONNX in a folder with the files of sentence-transformers."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np

from ingest.errors import SetupError
from ingest.model import EmbeddingModel, Vectors
from ingest.providers.embedders.base import UNRELATED, mean_cosine, unit_vectors
from ingest.providers.embedders.model_folder import ModelFolder, Pooling, read_folder
from ingest.providers.embedders.onnx_session import Ids, batches, load_session, return_free_memory
from ingest.settings.extensions import one_line
from ingest.tokens.json_files import load_json, split_name

_INPUTS: Final = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
# A chunk needs room beside the special tokens and the prefix.
_FEWEST_TOKENS: Final = 32


class OnnxEmbedder:
    """One session per process, run in a dedicated thread, so the event loop never blocks."""

    max_items = 128
    max_request_tokens = 2048  # a search may have to wait for it
    concurrency = 1  # one request already uses all processors
    lane: str | None = None

    def __init__(
        self, folder: Path, *, query_prefix: str | None = None, passage_prefix: str | None = None
    ) -> None:
        """Load the model. Prefixes replace those of the folder. Raises SetupError."""
        self._files = files = read_folder(folder, query=query_prefix, passage=passage_prefix)
        try:
            self._session = load_session(files.model)
        except Exception as error:  # the library has no common class
            raise SetupError(f"{files.model} cannot be loaded: {one_line(error)}") from None
        return_free_memory()
        self._inputs = [entry.name for entry in self._session.get_inputs()]
        if other := set(self._inputs) - _INPUTS:
            raise SetupError(f"{files.model} needs the input {min(other)}, which is not supported")
        self._tokenizer = _load_tokenizer(files)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="onnx-embedder")
        added = len(self._tokenizer.encode(files.prefixes.passage, add_special_tokens=False))
        if files.max_tokens - added < _FEWEST_TOKENS:
            raise SetupError(f"{folder}: the model reads {files.max_tokens} tokens, too few")
        questions = self._pooled([files.prefixes.query + text for text in UNRELATED])
        self.model = EmbeddingModel(
            provider="onnx",
            name=files.name,
            dimension=questions.shape[1],
            max_tokens=files.max_tokens - added,
            tokenizer=files.tokenizer,
        )
        self.unrelated = mean_cosine(questions)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(self._files.prefixes.passage, texts)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(self._files.prefixes.query, texts)

    async def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _embed(self, prefix: str, texts: Sequence[str]) -> Vectors:
        loop = asyncio.get_running_loop()
        prefixed = [prefix + text for text in texts]
        pooled = await loop.run_in_executor(self._thread, self._pooled, prefixed)
        return unit_vectors(pooled, count=len(texts), dimension=self.model.dimension)

    def _pooled(self, texts: Sequence[str]) -> Vectors:
        rows: list[Any] = [None] * len(texts)
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(texts)]
        for batch, ids, mask in batches(tokens, pad=self._files.pad_id):
            for row, vector in zip(batch, self._pooled_batch(ids, mask), strict=True):
                rows[row] = vector
        return np.asarray(rows, np.float32)

    def _pooled_batch(self, ids: Ids, mask: Ids) -> Vectors:
        feeds = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids),
            "position_ids": np.maximum(np.cumsum(mask, axis=1) - 1, 0),
        }
        outputs = self._session.run(None, {name: feeds[name] for name in self._inputs})
        tokens = next((output for output in outputs if np.ndim(output) == 3), None)
        if tokens is not None:
            return pool(np.asarray(tokens, np.float32), mask, self._files.pooling)
        whole = next((output for output in outputs if np.ndim(output) == 2), None)
        if whole is None:
            raise SetupError(f"{self._files.model} returns neither token vectors nor text vectors")
        return np.asarray(whole, np.float32)


def pool(tokens: Vectors, mask: np.ndarray[Any, Any], pooling: Pooling) -> Vectors:
    """One vector per text, of any length, from token vectors (texts, tokens, dimension).

    mask: (texts, tokens), 0 where the text is padded.
    """
    if pooling == "mean":
        mean: Vectors = np.einsum("btd,bt->bd", tokens, mask.astype(np.float32))
        return mean
    if pooling == "max":
        highest: Vectors = np.where(mask[:, :, None] == 1, tokens, -np.inf).max(axis=1)
        return highest
    place = mask.argmax(axis=1)
    if pooling == "lasttoken":
        place = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
    one: Vectors = tokens[np.arange(len(tokens)), place]
    return one


def _load_tokenizer(files: ModelFolder) -> Any:
    from tokenizers import normalizers

    file = split_name(files.tokenizer)
    if file is None:
        raise SetupError(f"{files.tokenizer} names no file")
    loaded = load_json(file.path, digest=file.digest)
    if files.lowercase:
        given = [loaded.normalizer] if loaded.normalizer else []
        loaded.normalizer = normalizers.Sequence([normalizers.Lowercase(), *given])
    loaded.enable_truncation(files.max_tokens)
    return loaded
