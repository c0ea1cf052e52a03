"""Opens OLE containers of any number of entries."""

import sys
from typing import Any, BinaryIO

import olefile

_DEEPEST = 50_000  # entries; some writers make a chain of each folder instead of a tree


class OleContainer(olefile.OleFileIO):  # type: ignore[misc]  # library is untyped
    """Finds an entry at once: the library compares the names of all others in its folder."""

    def open(self, *arguments: Any, **options: Any) -> None:
        """Read the directory, which the library does by recursion."""
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, _DEEPEST))
        try:
            super().open(*arguments, **options)
        finally:
            sys.setrecursionlimit(limit)

    def _find(self, filename: str | list[str]) -> int:
        """The number of an entry by its path. Raises OSError if there is none."""
        node = self.root
        for name in filename.split("/") if isinstance(filename, str) else filename:
            node = node.kids_dict.get(name.lower())
            if node is None:
                raise OSError("file not found")
        return int(node.sid)


def open_ole(file: BinaryIO) -> OleContainer:
    """Open a container; raises what olefile raises for a broken one."""
    return OleContainer(file)
