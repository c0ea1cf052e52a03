"""ONNX models that run in this process, beside the parsers."""

import ctypes
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ingest.machine import processors

Ids = NDArray[np.int64]

# One chunk keeps all processors busy. Batches of eight take a third more processor time, because
# what is computed no longer fits their caches, and a hundred megabytes. Short texts gain up to
# the length of a chunk.
_TOKENS: Final = 256


def load_session(model: Path | bytes, *, no_overflow: bool = False) -> Any:
    """An `onnxruntime.InferenceSession` on the processors that this process may use.

    no_overflow: products of 8 bits are exact on processors where they may overflow, and slower.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = processors()
    # Idle threads would spin and take CPU time from the parsers.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.x64quantprecision", "1" if no_overflow else "0")
    # It would put the slow operator in the place of two fast ones (encoder_graph.py).
    options.add_session_config_entry(
        "optimization.disable_specified_optimizers", "SkipLayerNormFusion"
    )
    file = model if isinstance(model, bytes) else str(model)
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    # It would keep the file (22 MB of the local model) to load it again for another processor.
    session._model_bytes = None
    return session


def return_free_memory() -> None:
    """Return to the system what loading has freed: up to 60 MB for the local model."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:  # of glibc only
        trim(0)


def batches(texts: Sequence[Sequence[int]], *, pad: int) -> Iterator[tuple[list[int], Ids, Ids]]:
    """Batches of texts of similar length: their rows, token ids and attention mask.

    texts: the token ids of each text. ids, mask: (texts, tokens), padded at the end with `pad`.
    """
    rows: list[int] = []
    for row in sorted(range(len(texts)), key=lambda row: len(texts[row])):
        if rows and (len(rows) + 1) * len(texts[row]) > _TOKENS:
            yield _padded(texts, rows, pad)
            rows = []
        rows.append(row)
    if rows:
        yield _padded(texts, rows, pad)


def _padded(texts: Sequence[Any], rows: list[int], pad: int) -> tuple[list[int], Ids, Ids]:
    shape = len(rows), len(texts[rows[-1]])
    ids, mask = np.full(shape, pad, np.int64), np.zeros(shape, np.int64)
    for index, row in enumerate(rows):
        ids[index, : len(texts[row])] = texts[row]
        mask[index, : len(texts[row])] = 1
    return rows, ids, mask
