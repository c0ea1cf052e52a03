"""all-MiniLM-L6-v2 computed with 8-bit integers, from the 8-bit weights of its installed file.

That file has a scale per column of a matrix, and multiplies weights by it before it computes with
32 bits. Here the inputs of each matrix are quantized too, so the product is one of integers: those
of the two feed-forward matrices token by token, since single tokens have values five times those of
all others; the rest with one scale per text, which is faster. Softmax, normalization and GELU keep
32 bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ingest.providers.embedders.onnx_file import Array, Graph, read_constants

INPUT: Final = "ids"
PROBE: Final = np.full((64, 64), 127, np.int8)
_HEADS: Final = 12
_EPSILON: Final = 1e-12
_FUSED: Final = "com.microsoft"  # the operators of onnxruntime itself
# GELU returns nothing below this.
_LOWEST_ACTIVE: Final = -0.17


@dataclass(frozen=True, slots=True)
class _Linear:
    weights: Array
    """(inputs, outputs), 8 bits."""
    scales: Array
    """(outputs,)"""
    bias: Array
    """(outputs,)"""


def build(file: bytes) -> bytes:
    """An ONNX model that takes the token ids of one text, (tokens,), and returns the mean of its
    token vectors, (dimension,), of any length.

    file: the model of the package.
    """
    return _Builder(read_constants(file)).build()


def overflow_probe() -> bytes:
    """A model that multiplies its input, (rows, 64), by PROBE."""
    graph = Graph()
    one = graph.constant(np.array(1, np.float32))
    ones = graph.constant(np.ones(PROBE.shape[1], np.float32))
    product = graph.node(
        "MatMulIntegerToFloat", INPUT, graph.constant(PROBE), one, ones, domain=_FUSED
    )
    return graph.model(inputs={INPUT: (np.uint8, 2)}, outputs={product: np.float32})


class _Builder:
    def __init__(self, constants: dict[str, Array]) -> None:
        self._constants = constants
        self._matrices = [name for name in constants if name.endswith("_q")][2:]
        """Six of each layer: query, key, value, output, up, down."""
        self._graph = Graph()
        self._one = self._graph.constant(np.array(1, np.float32))
        self._first = self._graph.constant(np.array([0], np.int64))
        self._second = self._graph.constant(np.array([1], np.int64))
        self._last = self._graph.constant(np.array([-1], np.int64))
        self._tokens = self._graph.node("Shape", INPUT)

    def build(self) -> bytes:
        graph = self._graph
        hidden = self._embedded()
        for layer in range(len(self._matrices) // 6):
            prefix = f"inner.encoder.layer.{layer}"
            query, key, value, output, up, down = self._layer(layer, prefix)
            attended = self._attention(hidden, [query, key, value])
            mixed = self._by_text(attended, output)
            middle = self._sum_normalized(mixed, hidden, f"{prefix}.attention.output.LayerNorm")
            wide = self._by_token(middle, up)
            active = graph.node("BiasGelu", wide, graph.constant(up.bias), domain=_FUSED)
            narrow = self._by_token(active, down, lowest=_LOWEST_ACTIVE)
            # The product is of values from 0 up.
            bias = down.bias + _LOWEST_ACTIVE * down.scales * down.weights.sum(axis=0, dtype=int)
            hidden = self._sum_normalized(
                narrow,
                middle,
                f"{prefix}.output.LayerNorm",
                graph.constant(bias.astype(np.float32)),
            )
        vector = graph.node("ReduceMean", hidden, self._first, keepdims=0)
        return graph.model(inputs={INPUT: (np.int64, 1)}, outputs={vector: np.float32})

    def _layer(self, layer: int, prefix: str) -> list[_Linear]:
        biases = [
            "attention.self.query",
            "attention.self.key",
            "attention.self.value",
            "attention.output.dense",
            "intermediate.dense",
            "output.dense",
        ]
        matrices = self._matrices[6 * layer : 6 * layer + 6]
        return [
            _Linear(
                weights=self._constants[matrix],
                scales=self._constants[f"{matrix.removesuffix('_q')}_scale"].reshape(-1),
                bias=self._constants[f"{prefix}.{bias}.bias"],
            )
            for matrix, bias in zip(matrices, biases, strict=True)
        ]

    def _embedded(self) -> str:
        """Token vectors before the first layer. Only rows of the text's words become 32 bits."""
        graph, constants, prefix = self._graph, self._constants, "inner.embeddings"
        words = f"{prefix}.word_embeddings.weight"
        rows = graph.node("Gather", graph.constant(constants[f"{words}_q"]), INPUT)
        scales = graph.node("Gather", graph.constant(constants[f"{words}_scale"]), INPUT)
        vectors = graph.node("Mul", graph.node("Cast", rows, to=1), scales)
        places = f"{prefix}.position_embeddings.weight"
        # All tokens are of the first type.
        added = constants[f"{places}_q"].astype(np.float32) * constants[f"{places}_scale"]
        added += constants[f"{prefix}.token_type_embeddings.weight"][0]
        used = graph.node(
            "Slice", graph.constant(added), self._first, self._tokens, self._first, self._second
        )
        return graph.node(
            "LayerNormalization",
            graph.node("Add", vectors, used),
            *self._normalization(f"{prefix}.LayerNorm"),
            axis=-1,
            epsilon=_EPSILON,
        )

    def _attention(self, hidden: str, parts: Sequence[_Linear]) -> str:
        graph = self._graph
        together = _Linear(
            weights=np.concatenate([part.weights for part in parts], axis=1),
            scales=np.concatenate([part.scales for part in parts]),
            bias=np.concatenate([part.bias for part in parts]),
        )
        one_text = graph.node("Unsqueeze", self._by_text(hidden, together), self._first)
        split = graph.nodes("Split", [one_text], 3, axis=-1, num_outputs=3)
        attended = graph.node("MultiHeadAttention", *split, domain=_FUSED, num_heads=_HEADS)
        return graph.node("Squeeze", attended, self._first)

    def _by_text(self, values: str, linear: _Linear) -> str:
        """The product and its bias; the inputs have one scale per text."""
        graph = self._graph
        return graph.node(
            "DynamicQuantizeMatMul",
            values,
            graph.constant(linear.weights),
            graph.constant(linear.scales),
            graph.constant(np.zeros(len(linear.scales), np.int8)),
            graph.constant(linear.bias),
            domain=_FUSED,
        )

    def _by_token(self, values: str, linear: _Linear, *, lowest: float | None = None) -> str:
        """The product without its bias; the inputs have one scale per token.

        lowest: what no input is below. It is subtracted, so that all 8 bits are for what is above.
        """
        graph = self._graph
        if lowest is None:
            zero, steps, sizes = 128, 127, graph.node("Abs", values)
        else:
            zero, steps = 0, 255
            values = graph.node("Sub", values, graph.constant(np.array([lowest], np.float32)))
            sizes = values
        highest = graph.node("ReduceMax", sizes, self._last, keepdims=1)
        scales = graph.node("Mul", highest, graph.constant(np.array([1 / steps], np.float32)))
        quantized = graph.node(
            "QuantizeLinear",
            values,
            graph.node("Squeeze", scales, self._second),
            graph.node("Expand", graph.constant(np.array([zero], np.uint8)), self._tokens),
            axis=0,
        )
        product = graph.node(
            "MatMulIntegerToFloat",
            quantized,
            graph.constant(linear.weights),
            self._one,
            graph.constant(linear.scales),
            graph.constant(np.array(zero, np.uint8)),
            domain=_FUSED,
        )
        return graph.node("Mul", product, scales)

    def _sum_normalized(self, values: str, skipped: str, name: str, *bias: str) -> str:
        return self._graph.node(
            "SkipLayerNormalization",
            values,
            skipped,
            *self._normalization(name),
            *bias,
            domain=_FUSED,
            epsilon=_EPSILON,
        )

    def _normalization(self, name: str) -> tuple[str, str]:
        weight, bias = (self._constants[f"{name}.{part}"] for part in ("weight", "bias"))
        return self._graph.constant(weight), self._graph.constant(bias)
