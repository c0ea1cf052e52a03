"""The constants of an ONNX file, and small ONNX models in memory, in the few messages they need.

The package `onnx` would take 33 MB for this. Files must be of known content: damage is not told.
The numbers of messages' fields are those of onnx.proto.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_TYPES: Final[Mapping[int, Any]] = {
    1: np.dtype("<f4"),
    2: np.dtype("u1"),
    3: np.dtype("i1"),
    7: np.dtype("<i8"),
}
_TYPE_NUMBERS: Final = {type_: number for number, type_ in _TYPES.items()}
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT = 1, 2
_IR_VERSION: Final = 8
_OPERATORS: Final = {"": 18, "com.microsoft": 1}


def read_constants(file: bytes) -> dict[str, Array]:
    """The arrays of a model by name, as views of the file; only of the types above."""
    graph = next(value for field, value in _fields(memoryview(file)) if field == 7)
    constants = {}
    for field, tensor in _fields(graph):
        if field != 5:
            continue
        values = dict(_fields(tensor))
        shape = [value for number, value in _fields(tensor) if number == 1]
        if values[2] in _TYPES and 9 in values:
            array = np.frombuffer(values[9], _TYPES[values[2]])
            constants[bytes(values[8]).decode()] = array.reshape(shape)
    return constants


class Graph:
    """A model that is written node by node. Values are known by name."""

    def __init__(self) -> None:
        self._parts: list[bytes] = [_text(2, "graph")]
        self._names = 0

    def constant(self, array: Array) -> str:
        name = self._name()
        tensor = b"".join(_number(1, size) for size in array.shape)
        tensor += _number(2, _TYPE_NUMBERS[array.dtype]) + _text(8, name)
        self._parts.append(_message(5, tensor + _message(9, array.tobytes())))
        return name

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes: float) -> str:
        """The name of the result. Attributes are integers, unless they are of type float."""
        return self.nodes(operator, inputs, 1, domain=domain, **attributes)[0]

    def nodes(
        self,
        operator: str,
        inputs: Sequence[str],
        results: int,
        *,
        domain: str = "",
        **attributes: float,
    ) -> list[str]:
        """As node(), for an operator with several results."""
        names = [self._name() for _ in range(results)]
        node = b"".join(_text(1, name) for name in inputs)
        node += b"".join(_text(2, name) for name in names)
        node += _text(4, operator) + _text(7, domain)
        node += b"".join(_message(5, _attribute(*item)) for item in attributes.items())
        self._parts.append(_message(1, node))
        return names

    def model(self, *, inputs: Mapping[str, tuple[Any, int]], outputs: Mapping[str, Any]) -> bytes:
        """The file. inputs: type and number of dimensions, of any size. outputs: type."""
        given = [_message(11, _value(name, *type_)) for name, type_ in inputs.items()]
        results = [_message(12, _value(name, type_)) for name, type_ in outputs.items()]
        domains = [
            _message(8, _text(1, domain) + _number(2, version))
            for domain, version in _OPERATORS.items()
        ]
        graph = _message(7, b"".join([*self._parts, *given, *results]))
        return b"".join([_number(1, _IR_VERSION), *domains, graph])

    def _name(self) -> str:
        self._names += 1
        return f"v{self._names}"


def _value(name: str, type_: Any, dimensions: int | None = None) -> bytes:
    tensor = _number(1, _TYPE_NUMBERS[np.dtype(type_)])
    if dimensions is not None:
        tensor += _message(2, _message(1, b"") * dimensions)
    return _text(1, name) + _message(2, _message(1, tensor))


def _attribute(name: str, value: float) -> bytes:
    if isinstance(value, float):
        single = _key(2, _FOUR_BYTES) + struct.pack("<f", value)
        return _text(1, name) + single + _number(20, _ATTRIBUTE_FLOAT)
    return _text(1, name) + _number(3, value) + _number(20, _ATTRIBUTE_INT)


def _fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """The number and value of each field: an integer, or a view of its bytes."""
    place = 0
    while place < len(message):
        key, place = _read_varint(message, place)
        field, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, place = _read_varint(message, place)
            yield field, value
            continue
        if kind == _BYTES:
            size, place = _read_varint(message, place)
        else:
            size = {_FOUR_BYTES: 4, _EIGHT_BYTES: 8}[kind]
        yield field, message[place : place + size]
        place += size


def _read_varint(message: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place += 1
        shift += 7
        if byte < 0x80:
            return value, place


def _varint(value: int) -> bytes:
    value &= 2**64 - 1  # negative numbers in two's complement
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def _key(field: int, kind: int) -> bytes:
    return _varint(field << 3 | kind)


def _number(field: int, value: int) -> bytes:
    return _key(field, _VARINT) + _varint(value)


def _message(field: int, value: bytes) -> bytes:
    return _key(field, _BYTES) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _message(field, value.encode())
