"""Loads named statements from the .sql files of `ingest/store`."""

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

_NAME: Final = re.compile(rb"^-- name: (\w+)\s*$", re.MULTILINE)


def load_queries(file: str) -> Mapping[str, bytes]:
    """Load the statements of `ingest/store/<file>` by name; each starts with a line `-- name: x`.

    Bytes, because psycopg's types accept bytes as a query without a cast.
    """
    parts = _NAME.split(files("ingest.store").joinpath(file).read_bytes())
    return {
        name.decode(): body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)
    }


def fill_in(statement: bytes, **fragments: bytes) -> bytes:
    """The statement with `{name}` replaced by a fragment: another statement of a .sql file, or a
    column. Never by a value, which is a parameter.
    """
    for name, fragment in fragments.items():
        statement = statement.replace(b"{%b}" % name.encode(), fragment)
    return statement
