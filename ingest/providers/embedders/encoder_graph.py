"""The encoder of all-MiniLM-L6-v2 as a graph of few operators, from its installed file.

What multiplies matrices is left to subclasses. Words stay in 8 bits, as in the file: only the rows
of a text's words become 32 bits. Sums are normalized by two operators: the one that does both
(SkipLayerNormalization) takes seven times as long in onnxruntime 1.32, and as long in 1.22.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ingest.providers.embedders.onnx_file import Array, Graph, read_constants

FUSED: Final = "com.microsoft"  # the operators of onnxruntime itself
HEADS: Final = 12
_EPSILON: Final = 1e-12
_MATRICES: Final = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)


@dataclass(frozen=True, slots=True)
class Linear:
    weights: Array
    """(inputs, outputs), 8 bits."""
    scales: Array
    """(outputs,)"""
    bias: Array
    """(outputs,)"""


class Encoder(ABC):
    def __init__(self, file: bytes) -> None:
        """file: the model of the package."""
        self._constants = read_constants(file)
        self._matrices = [name for name in self._constants if name.endswith("_q")][2:]
        """Six of each layer, in the order of _MATRICES."""
        self._graph = Graph()
        self._first = self._graph.constant(np.array([0], np.int64))
        self._second = self._graph.constant(np.array([1], np.int64))

    @abstractmethod
    def _attention(self, hidden: str, parts: Linear) -> str:
        """What the tokens attend to. parts: query, key and value, beside each other."""

    @abstractmethod
    def _mixed(self, attended: str, output: Linear) -> str: ...

    @abstractmethod
    def _active(self, values: str, up: Linear) -> str:
        """GELU of the product."""

    @abstractmethod
    def _narrow(self, active: str, down: Linear) -> str: ...

    def _encoded(self, ids: str) -> str:
        """Token vectors of the last layer, (…, tokens, dimension). ids: (…, tokens)."""
        hidden = self._embedded(ids)
        for layer in range(len(self._matrices) // len(_MATRICES)):
            prefix = f"inner.encoder.layer.{layer}"
            *attention, output, up, down = self._layer(layer, prefix)
            mixed = self._mixed(self._attention(hidden, _beside(attention)), output)
            middle = self._sum_normalized(mixed, hidden, f"{prefix}.attention.output.LayerNorm")
            narrow = self._narrow(self._active(middle, up), down)
            hidden = self._sum_normalized(narrow, middle, f"{prefix}.output.LayerNorm")
        return hidden

    def _layer(self, layer: int, prefix: str) -> list[Linear]:
        matrices = self._matrices[len(_MATRICES) * layer :][: len(_MATRICES)]
        return [
            Linear(
                weights=self._constants[matrix],
                scales=self._constants[f"{matrix.removesuffix('_q')}_scale"].reshape(-1),
                bias=self._constants[f"{prefix}.{name}.bias"],
            )
            for matrix, name in zip(matrices, _MATRICES, strict=True)
        ]

    def _embedded(self, ids: str) -> str:
        """Token vectors before the first layer."""
        graph, constants, prefix = self._graph, self._constants, "inner.embeddings"
        words = f"{prefix}.word_embeddings.weight"
        rows = graph.node("Gather", graph.constant(constants[f"{words}_q"]), ids)
        scales = graph.node("Gather", graph.constant(constants[f"{words}_scale"]), ids)
        vectors = graph.node("Mul", graph.node("Cast", rows, to=1), scales)
        places = f"{prefix}.position_embeddings.weight"
        # All tokens are of the first type.
        added = constants[f"{places}_q"].astype(np.float32) * constants[f"{places}_scale"]
        added += constants[f"{prefix}.token_type_embeddings.weight"][0]
        tokens = graph.node("Shape", ids, start=-1)
        used = graph.node(
            "Slice", graph.constant(added), self._first, tokens, self._first, self._second
        )
        return self._sum_normalized(vectors, used, f"{prefix}.LayerNorm")

    def _sum_normalized(self, values: str, others: str, name: str) -> str:
        graph = self._graph
        weight, bias = (self._constants[f"{name}.{part}"] for part in ("weight", "bias"))
        return graph.node(
            "LayerNormalization",
            graph.node("Add", values, others),
            graph.constant(weight),
            graph.constant(bias),
            axis=-1,
            epsilon=_EPSILON,
        )


def _beside(parts: Sequence[Linear]) -> Linear:
    return Linear(
        weights=np.concatenate([part.weights for part in parts], axis=1),
        scales=np.concatenate([part.scales for part in parts]),
        bias=np.concatenate([part.bias for part in parts]),
    )
