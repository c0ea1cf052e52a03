"""all-MiniLM-L6-v2 computed with 8-bit integers, from the 8-bit weights of its installed file.

That file has a scale per column of a matrix, and multiplies weights by it before it computes with
32 bits. Here the inputs of each matrix are quantized too, so the product is one of integers: those
of the two feed-forward matrices token by token, since single tokens have values five times those of
all others; the rest with one scale per text, which is faster. Softmax, normalization and GELU keep
32 bits.
"""

from typing import Final

import numpy as np

from ingest.providers.embedders.encoder_graph import FUSED, HEADS, Encoder, Linear
from ingest.providers.embedders.onnx_file import Graph

INPUT: Final = "ids"
PROBE: Final = np.full((64, 64), 127, np.int8)
# GELU returns nothing below this.
_LOWEST_ACTIVE: Final = -0.17


def build(file: bytes) -> bytes:
    """An ONNX model that takes the token ids of one text, (tokens,), and returns the mean of its
    token vectors, (dimension,), of any length.

    file: the model of the package.
    """
    return _Encoder(file).build()


def overflow_probe() -> bytes:
    """A model that multiplies its input, (rows, 64), by PROBE."""
    graph = Graph()
    one = graph.constant(np.array(1, np.float32))
    ones = graph.constant(np.ones(PROBE.shape[1], np.float32))
    product = graph.node(
        "MatMulIntegerToFloat", INPUT, graph.constant(PROBE), one, ones, domain=FUSED
    )
    return graph.model(inputs={INPUT: (np.uint8, 2)}, outputs={product: np.float32})


class _Encoder(Encoder):
    def build(self) -> bytes:
        graph = self._graph
        self._one = graph.constant(np.array(1, np.float32))
        self._last = graph.constant(np.array([-1], np.int64))
        self._tokens = graph.node("Shape", INPUT)
        vector = graph.node("ReduceMean", self._encoded(INPUT), self._first, keepdims=0)
        return graph.model(inputs={INPUT: (np.int64, 1)}, outputs={vector: np.float32})

    def _attention(self, hidden: str, parts: Linear) -> str:
        graph = self._graph
        one_text = graph.node("Unsqueeze", self._by_text(hidden, parts), self._first)
        split = graph.nodes("Split", [one_text], 3, axis=-1, num_outputs=3)
        attended = graph.node("MultiHeadAttention", *split, domain=FUSED, num_heads=HEADS)
        return graph.node("Squeeze", attended, self._first)

    def _mixed(self, attended: str, output: Linear) -> str:
        return self._by_text(attended, output)

    def _active(self, values: str, up: Linear) -> str:
        graph = self._graph
        return graph.node(
            "BiasGelu", self._by_token(values, up), graph.constant(up.bias), domain=FUSED
        )

    def _narrow(self, active: str, down: Linear) -> str:
        graph = self._graph
        product = self._by_token(active, down, lowest=_LOWEST_ACTIVE)
        # The product is of values from 0 up.
        bias = down.bias + _LOWEST_ACTIVE * down.scales * down.weights.sum(axis=0, dtype=int)
        return graph.node("Add", product, graph.constant(bias.astype(np.float32)))

    def _by_text(self, values: str, linear: Linear) -> str:
        """The product and its bias; the inputs have one scale per text."""
        graph = self._graph
        return graph.node(
            "DynamicQuantizeMatMul",
            values,
            graph.constant(linear.weights),
            graph.constant(linear.scales),
            graph.constant(np.zeros(len(linear.scales), np.int8)),
            graph.constant(linear.bias),
            domain=FUSED,
        )

    def _by_token(self, values: str, linear: Linear, *, lowest: float | None = None) -> str:
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
            domain=FUSED,
        )
        return graph.node("Mul", product, scales)
