"""Front matter of Markdown in YAML and TOML, as metadata."""

import re
import tomllib
from collections.abc import Mapping
from typing import Any

import yaml

_LONGEST = 32_768  # characters
_MOST_BRACKETS = 1000  # the time to parse YAML is quadratic in the depth of nesting
_FRONT = re.compile(
    r"\A\s*(?P<mark>---|\+\+\+)[ \t]*\r?\n(?P<data>.*?)\r?\n(?:(?P=mark)|\.\.\.)[ \t]*(?:\r?\n|\Z)",
    re.DOTALL,
)
_KNOWN = {
    "author": ("author", "authors", "creator"),
    "date": ("date", "published", "created"),
    "tags": ("tags", "keywords", "categories"),
    "description": ("description", "summary", "abstract", "excerpt"),
    "language": ("lang", "language"),
}


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # the library has no types
    """YAML without aliases: a few lines of them expand to gigabytes."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The front matter and the text after it; invalid front matter stays in the text."""
    match = _FRONT.match(text[:_LONGEST])
    if match is None or match["data"].count("[") + match["data"].count("{") > _MOST_BRACKETS:
        return {}, text
    try:
        if match["mark"] == "+++":
            found = tomllib.loads(match["data"].replace("\r\n", "\n"))
        else:
            found = yaml.load(match["data"], Loader=_Loader)  # noqa: S506  (a SafeLoader)
    except (yaml.YAMLError, tomllib.TOMLDecodeError, ValueError, RecursionError):
        return {}, text
    if not isinstance(found, Mapping):
        return {}, text
    return {str(key): value for key, value in found.items()}, text[match.end() :]


def known_metadata(front: dict[str, Any]) -> dict[str, Any]:
    """The keys that all formats have; the rest unchanged in `frontMatter`."""
    metadata: dict[str, Any] = {}
    for key, names in _KNOWN.items():
        values = [front.pop(name) for name in names if front.get(name)]
        if values:
            metadata[key] = values[0]
            front.update({names[-1]: values[1:]} if len(values) > 1 else {})
    return {**metadata, "frontMatter": front} if front else metadata
