"""all-MiniLM-L6-v2 computed with 32 bits, as its installed file does, by faster operators.

Its vectors are those of the file, but for rounding (1e-6).
"""

from typing import Any, Final

import numpy as np

from ingest.providers.embedders.encoder_graph import FUSED, HEADS, Encoder, Linear

_IDS: Final = "input_ids"
_MASK: Final = "attention_mask"
_TYPES: Final = "token_type_ids"
_INT32: Final = 6
PROBE: Final = np.array([[101, 3514, 102, 0, 0], [101, 2129, 2411, 3514, 102]])
"""Token ids of two texts, the shorter one padded."""
EXPECTED: Final = np.array([[-0.4615, -0.2318, 0.4338, 0.1945], [-0.3263, -0.4258, 0.5706, 0.2951]])
"""Of each, the first numbers of the first token's vector, as the file computes them."""


def build(file: bytes) -> bytes:
    """An ONNX model with the inputs and the result of `file`, of which it ignores the token types:
    all are of the first.

    file: the model of the package.
    """
    return _Encoder(file).build()


def is_right(session: Any) -> bool:
    """Whether the model computes here what it should, with this version of onnxruntime.

    session: an `onnxruntime.InferenceSession` of the model. It raises what running it does.
    """
    inputs = {_IDS: PROBE, _MASK: np.sign(PROBE), _TYPES: np.zeros_like(PROBE)}
    [hidden] = session.run(None, inputs)
    return np.allclose(hidden[:, 0, : EXPECTED.shape[1]], EXPECTED, atol=1e-3)


class _Encoder(Encoder):
    def build(self) -> bytes:
        # What it hides counts as -10,000 before softmax, and so not at all.
        self._mask = self._graph.node("Cast", _MASK, to=_INT32)
        hidden = self._encoded(_IDS)
        given = (np.int64, 2)
        return self._graph.model(
            inputs={_IDS: given, _MASK: given, _TYPES: given},
            outputs={hidden: np.float32},
        )

    def _attention(self, hidden: str, parts: Linear) -> str:
        return self._graph.node(
            "Attention",
            hidden,
            self._weights(parts),
            self._graph.constant(parts.bias),
            self._mask,
            domain=FUSED,
            num_heads=HEADS,
        )

    def _mixed(self, attended: str, output: Linear) -> str:
        return self._product(attended, output)

    def _active(self, values: str, up: Linear) -> str:
        return self._graph.node("Gelu", self._product(values, up), domain=FUSED)

    def _narrow(self, active: str, down: Linear) -> str:
        return self._product(active, down)

    def _product(self, values: str, linear: Linear) -> str:
        graph = self._graph
        product = graph.node("MatMul", values, self._weights(linear))
        return graph.node("Add", product, graph.constant(linear.bias))

    def _weights(self, linear: Linear) -> str:
        """In 32 bits; onnxruntime computes them once, when the model is loaded."""
        graph = self._graph
        wide = graph.node("Cast", graph.constant(linear.weights), to=1)
        return graph.node("Mul", wide, graph.constant(linear.scales))
