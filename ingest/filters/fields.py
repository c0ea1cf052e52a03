"""The fields that a filter may name."""

import re
from collections.abc import Mapping
from typing import Final

from ingest.filters.model import Field, Kind

BUILT_IN: Final[Mapping[str, Kind]] = {
    "uri": "text",
    "title": "text",
    "mediaType": "text",
    "language": "text",
    "type": "text",
    "name": "text",
    "knowledgeSourceId": "id",
    "documentId": "id",
    "collectionId": "id",
    "createdAt": "time",
    "updatedAt": "time",
    "publishedAt": "time",
}
METADATA: Final = ("metadata", "document")
"""Of the source, and of the document; a path of keys follows."""

_MAX_KEYS: Final = 8
_MAX_CHARACTERS: Final = 1000
# A key, or a key in double quotes, which may contain dots; a quote in it is doubled.
_KEY: Final = re.compile(r'\.(?:([^."]+)|"((?:[^"]|"")+)")')


def find(name: str) -> Field | None:
    """The field of this name; None: there is none. Raises ValueError for a malformed path."""
    kind = BUILT_IN.get(name)
    if kind is not None:
        return Field(name, kind)
    root, dot, _ = name.partition(".")
    if root not in METADATA or not dot:
        return None
    return Field(root, "json", _path(name, start=len(root)))


def _path(name: str, *, start: int) -> tuple[str, ...]:
    if len(name) > _MAX_CHARACTERS:
        raise ValueError(f"a field of more than {_MAX_CHARACTERS} characters")
    keys = []
    while start < len(name):
        key = _KEY.match(name, start)
        if key is None:
            raise ValueError('keys are separated by dots; one with a dot is written "in.quotes"')
        keys.append(key[1] or key[2].replace('""', '"'))
        start = key.end()
    if len(keys) > _MAX_KEYS:
        raise ValueError(f"a path of more than {_MAX_KEYS} keys")
    return tuple(keys)
