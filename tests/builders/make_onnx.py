"""Tiny embedding models in ONNX, written by hand: each token has a vector, and that is all."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingest.tokens.vocabularies import load_minilm

POOLINGS = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens"}
_FLOAT, _INT64 = 1, 7


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
    rows, width = table.shape
    node = _text(1, "table") + _text(1, "input_ids") + _text(2, "last_hidden_state")
    tensor = _number(1, rows) + _number(1, width) + _number(2, _FLOAT) + _text(8, "table")
    graph = _message(1, node + _text(4, "Gather")) + _text(2, "lookup")
    graph += _message(5, tensor + _message(9, table.tobytes()))
    graph += b"".join(_message(11, _value(name, _INT64, "bt")) for name in inputs)
    graph += _message(12, _value("last_hidden_state", _FLOAT, "btd"))
    opset = _message(8, _text(1, "") + _number(2, 13))
    return _number(1, 8) + opset + _message(7, graph)


def _value(name: str, kind: int, axes: str) -> bytes:
    shape = b"".join(_message(1, _text(2, axis)) for axis in axes)
    return _text(1, name) + _message(2, _message(1, _number(1, kind) + _message(2, shape)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, value: str) -> bytes:
    return _message(field, value.encode())


def _message(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    parts = []
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return struct.pack(f"{len(parts) + 1}B", *parts, value)
