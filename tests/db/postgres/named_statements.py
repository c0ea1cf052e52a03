"""The statements of `ingest/store/**/*.sql`, as a server is asked to prepare them."""

import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from ingest.postgres.database import load_queries


def sql_files() -> Iterator[Any]:
    folders = [files("ingest.store")]
    while folders:
        for entry in folders.pop().iterdir():
            if entry.is_dir():
                folders.append(entry)
            elif entry.name.endswith(".sql"):
                yield entry


def statements() -> dict[str, bytes]:
    """Named statements that read or write rows, by file and name."""
    found = {}
    for path in sql_files():
        if path.name in ("session.sql", "row_security.sql"):
            continue
        folder = path.parent.name + "/"
        for name, text in load_queries(folder + path.name).items():
            # Filled in at run time: tested with the search.
            if b"{" not in text and not text.startswith((b"do ", b"set ", b"reset ")):
                found[f"{folder}{path.name}:{name}"] = text
    return found


def numbered(text: bytes) -> tuple[bytes, list[str]]:
    """The statement with `$1` for psycopg's parameters, and their names."""
    names: list[str] = []

    def number(match: re.Match[bytes]) -> bytes:
        name = match[1].decode()
        if name not in names:
            names.append(name)
        return b"$%d" % (names.index(name) + 1)

    return re.sub(rb"%\((\w+)\)[sbt]", number, text).replace(b"%%", b"%"), names
