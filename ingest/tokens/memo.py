"""A bounded cache for a slow function of short texts: most words of a text were seen before."""

from collections.abc import Callable, Iterable
from itertools import chain

_MAX_PIECES = 65_536
_LONGEST_PIECE = 64


class Memo(dict[str, tuple[int, ...]]):
    """Numbers for each piece of text, cached for short pieces; memory is bounded (~16 MB)."""

    def __init__(self, numbers: Callable[[str], tuple[int, ...]]) -> None:
        super().__init__()
        self._numbers = numbers

    def __missing__(self, piece: str) -> tuple[int, ...]:
        found = self._numbers(piece)
        if len(piece) <= _LONGEST_PIECE:
            if len(self) >= _MAX_PIECES:
                self.clear()
            self[piece] = found
        return found

    def concatenate(self, pieces: Iterable[str]) -> list[int]:
        """The numbers of all pieces, one after the other."""
        return list(chain.from_iterable(map(self.__getitem__, pieces)))
