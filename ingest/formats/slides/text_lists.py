"""Lists in the text of a shape: their marks and numbers, as PowerPoint shows them."""

import re
from dataclasses import dataclass, field
from typing import Final

from lxml import etree

from ingest.formats.office.count_styles import spelled
from ingest.formats.office.xml_tree import child, local

_KIND: Final = re.compile(
    r"(arabic|alphaLc|alphaUc|romanLc|romanUc)(Period|ParenR|ParenBoth|Plain)"
)
_STYLES: Final = {
    "arabic": "decimal", "alphaLc": "lowerLetter", "alphaUc": "upperLetter",
    "romanLc": "lowerRoman", "romanUc": "upperRoman",
}  # fmt: skip
_AROUND: Final = {"Period": "{}.", "ParenR": "{})", "ParenBoth": "({})", "Plain": "{}"}
_MARKS: Final = ("{*}buNone", "{*}buChar", "{*}buAutoNum", "{*}buBlip")
_ITEM: Final = re.compile(r"\d+[.)]")
_DEEPEST: Final = 8


@dataclass(slots=True)
class TextLists:
    """Writes the items of one shape; call item() in order."""

    levels: etree._Element | None
    """The formats of the levels that the shape states (lstStyle)."""
    is_list: bool
    """Whether paragraphs are items if nothing else is stated."""
    _counts: dict[int, tuple[str, int]] = field(default_factory=dict)
    """Kind and number of the last item by level."""
    _indents: list[int] = field(default_factory=list)

    def item(self, properties: etree._Element | None, text: str) -> str | None:
        """A line of a Markdown list; None if the paragraph is no item."""
        level = _level(properties)
        mark = self._mark(properties, level)
        for deeper in [key for key in self._counts if key > level]:
            del self._counts[deeper]
        if mark is None or local(mark) != "buAutoNum":
            self._counts.pop(level, None)
        if local(mark) == "buNone" if mark is not None else not self.is_list:
            return None
        label = self._label(mark, level) if mark is not None else ""
        shown = f"{label} " if _ITEM.fullmatch(label) else f"- {label} " if label else "- "
        self._indents[level:] = [*[2] * (level - len(self._indents)), len(shown.split(" ")[0]) + 1]
        return f"{' ' * sum(self._indents[:level])}{shown}{text}"

    def _mark(self, properties: etree._Element | None, level: int) -> etree._Element | None:
        for stated in (properties, child(self.levels, f"lvl{level + 1}pPr")):
            mark = next(stated.iterchildren(*_MARKS), None) if stated is not None else None
            if mark is not None:
                return mark
        return None

    def _label(self, mark: etree._Element, level: int) -> str:
        """The number of an item; empty for a bullet."""
        if local(mark) != "buAutoNum":
            return ""
        kind = f"{mark.get('type')} {mark.get('startAt')}"
        before = self._counts.get(level)
        stated = mark.get("startAt", "1")
        first = int(stated) if stated.isdecimal() and len(stated) < 6 else 1
        count = before[1] + 1 if before is not None and before[0] == kind else first
        self._counts[level] = kind, count
        parts = _KIND.fullmatch(mark.get("type", ""))
        if parts is None:
            return f"{count}."
        return _AROUND[parts[2]].format(spelled(count, _STYLES[parts[1]]))


def _level(properties: etree._Element | None) -> int:
    stated = "" if properties is None else properties.get("lvl", "")
    return min(int(stated), _DEEPEST) if stated.isdecimal() and len(stated) < 3 else 0
