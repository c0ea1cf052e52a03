"""JSON values as Markdown: objects become list items with field names, like table rows.

Nested objects become paths (`address.city: Paris`), lists of scalars are joined, lists of objects
become nested items. A list of objects in the top-level object gets a heading.
"""

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from ingest.formats.common.markdown_writer import Lines

_DEEPEST = 20  # levels; deeper values become one line of text
_LONGEST_PATH = 200  # characters of a path prefix that fields share


class Object(NamedTuple):
    """An object as written, with duplicate keys."""

    pairs: list[tuple[str, "Value"]]


Value: TypeAlias = "str | bool | list[Value] | Object | None"
"""Numbers are strings, spelled as in the file."""


def write(value: Value, out: Lines) -> None:
    """Write the whole document."""
    if isinstance(value, Object):
        for key, member in value.pairs:
            if isinstance(member, list) and any(isinstance(item, Object) for item in member):
                out.heading(2, key)
                write(member, out)
                out.gap()
            else:
                write_item(Object([(key, member)]), out)
    elif isinstance(value, list):
        for item in value:
            write_item(item, out)
    else:
        out.text(scalar(value))


def write_item(value: Value, out: Lines, depth: int = 0, level: int = 0) -> None:
    """Write an element of a list as a list item, with the items of its lists nested in it.

    `depth`: nesting of the item; `level`: nesting of the value.
    """
    if level >= _DEEPEST:
        out.item([_flat(value)], depth=depth)
        return
    nested: list[tuple[str, list[Value]]] = []
    if isinstance(value, list) and not _is_plain(value):
        nested.append(("", value))
        has_line = False
    else:
        has_line = out.item(_texts(value, nested), depth=depth)
    for path, items in nested:
        below = depth + 1 if has_line else depth
        if path:
            out.item([f"{path}:"], depth=below)
            below += 1
        for item in items:
            write_item(item, out, below, level + 1)


def scalar(value: Value) -> str:
    """A scalar on one line."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(value.split()) if isinstance(value, str) else _flat(value)


def _texts(value: Value, nested: list[tuple[str, list[Value]]]) -> Iterator[str]:
    if isinstance(value, Object):
        yield from _fields(value, "", nested)
    elif text := _joined(value):
        yield text


def _fields(
    value: Object, path: str, nested: list[tuple[str, list[Value]]], level: int = 0
) -> Iterator[str]:
    """`path: value` of all scalars and lists of scalars; other lists go to `nested`."""
    for key, member in value.pairs:
        name = f"{path}.{scalar(key)}" if path else scalar(key)
        if isinstance(member, Object) and level < _DEEPEST and len(name) <= _LONGEST_PATH:
            yield from _fields(member, name, nested, level + 1)
        elif isinstance(member, list) and not _is_plain(member):
            nested.append((name, member))
        elif text := _flat(member) if isinstance(member, Object) else _joined(member):
            yield f"{name}: {text}" if name else text


def _is_plain(items: list[Value]) -> bool:
    return not any(isinstance(item, list | Object) for item in items)


def _joined(value: Value) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(scalar, value)))
    return scalar(value)


def _flat(value: Value) -> str:
    """All keys and values in order on one line, at any depth."""
    found: list[str] = []
    waiting: list[Value] = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, Object):
            for key, member in reversed(current.pairs):
                waiting += [member, f"{key}:"]
        elif isinstance(current, list):
            waiting += reversed(current)
        else:
            found.append(scalar(current))
    return " ".join(filter(None, found))
