"""Tiny embedding models in ONNX: each token has a vector, and that is all."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingest.providers.embedders.onnx_file import Graph
from ingest.tokens.vocabularies import load_minilm

POOLINGS = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens"}


def write_model(
    folder: Path,
    *,
    pooling: str = "mean",
    prompts: dict[str, str] | None = None,
    max_tokens: int = 64,
    inputs: tuple[str, ...] = ("input_ids", "attention_mask"),
) -> NDArray[np.float32]:
    """Write a folder as sentence-transformers do; returns the vector of each token of MiniLM."""
    folder.mkdir(parents=True, exist_ok=True)
    table = np.random.default_rng(7).normal(size=(30_522, 4)).astype(np.float32)
    (folder / "model.onnx").write_bytes(onnx_lookup(table, inputs=inputs))
    load_minilm().save(str(folder / "tokenizer.json"))
    prefix = "sentence_transformers.models"
    write(
        folder / "modules.json",
        [
            {"idx": 0, "name": "0", "path": "", "type": f"{prefix}.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{prefix}.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": f"{prefix}.Normalize"},
        ],
    )
    modes = {name: key == pooling for key, name in POOLINGS.items()}
    write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": 4, **modes})
    write(folder / "sentence_bert_config.json", {"max_seq_length": max_tokens})
    if prompts is not None:
        write(folder / "config_sentence_transformers.json", {"prompts": prompts})
    return table


def write(file: Path, content: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content))


def onnx_lookup(table: NDArray[np.float32], *, inputs: tuple[str, ...]) -> bytes:
    """A model whose output is the row of `table` of each token."""
    graph = Graph()
    rows = graph.node("Gather", graph.constant(table), "input_ids")
    return graph.model(inputs=dict.fromkeys(inputs, (np.int64, 2)), outputs={rows: np.float32})
