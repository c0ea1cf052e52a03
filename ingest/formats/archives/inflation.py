"""Limits on how far packed bytes may inflate."""

from typing import IO, BinaryIO

from ingest.errors import Permanent

_RATIO = 200  # inflated to packed size; real files stay below 60
_RATIO_FROM = 32 * 1024 * 1024  # bytes


class InflationBudget:
    """How many bytes may be inflated from a number of packed bytes."""

    def __init__(self, *, packed: int, at_least: int = _RATIO_FROM) -> None:
        self._left = max(at_least, _RATIO * packed)

    def spend(self, size: int) -> None:
        """Raises Permanent `archive_unsafe` when the budget is used up."""
        self._left -= size
        if self._left < 0:
            raise Permanent(
                "It decompresses to many times its size (possible decompression bomb).",
                code="archive_unsafe",
            )


class LimitedStream:
    """A reader that spends budgets, and stops with Permanent `archive_unsafe`."""

    def __init__(self, stream: IO[bytes], *budgets: InflationBudget) -> None:
        self._stream = stream
        self._budgets = budgets

    def read(self, size: int = -1) -> bytes:
        block = self._stream.read(size)
        for budget in self._budgets:
            budget.spend(len(block))
        return block


def file_size(file: BinaryIO) -> int:
    """Size of the file in bytes; leaves it at its start."""
    size = file.seek(0, 2)
    file.seek(0)
    return size
