"""The lists of Word documents, which number paragraphs that refer to them."""

from lxml import etree

from ingest.formats.office.numbering import CountedList, ListLevel
from ingest.formats.office.xml_tree import child, number, value


class Numbering:
    """Numbers the paragraphs of a document; call label() in document order."""

    def __init__(self, root: etree._Element | None) -> None:
        self._lists: dict[str, CountedList] = {}
        self._levels_of: dict[str, dict[int, ListLevel]] = {}
        if root is None:
            return
        definitions = {
            value(item, "abstractNumId") or "": item for item in root.iterchildren("{*}abstractNum")
        }
        by_style = {
            value(child(item, "styleLink")): key
            for key, item in definitions.items()
            if child(item, "styleLink") is not None
        }
        counted: dict[str, CountedList] = {}
        for item in root.iterchildren("{*}num"):
            key = value(child(item, "abstractNumId")) or ""
            linked = value(child(definitions.get(key), "numStyleLink"))
            key = by_style.get(linked, key)
            base = counted.setdefault(key, CountedList(_levels(definitions.get(key))))
            changed = _overrides(item)
            mine = CountedList(base.levels | changed) if changed else base
            self._lists[value(item, "numId") or ""] = mine

    def label(self, key: str | None, level: int) -> str | None:
        """The number of the next paragraph of this list; empty for a bullet.

        None if there is no such list or level, or the level has no numbers.
        """
        found = self._lists.get(key or "")
        return None if found is None else found.label(level)


def _levels(definition: etree._Element | None) -> dict[int, ListLevel]:
    if definition is None:
        return {}
    return {number(item, "ilvl") or 0: _level(item) for item in definition.iterchildren("{*}lvl")}


def _level(item: etree._Element) -> ListLevel:
    start = number(child(item, "start"))
    return ListLevel(
        format=value(child(item, "numFmt")) or "decimal",
        pattern=value(child(item, "lvlText")) or "",
        start=1 if start is None else start,
    )


def _overrides(item: etree._Element) -> dict[int, ListLevel]:
    """Levels that a list redefines. An override of only the start value is ignored."""
    return {
        number(override, "ilvl") or 0: _level(level)
        for override in item.iterchildren("{*}lvlOverride")
        if (level := child(override, "lvl")) is not None
    }
