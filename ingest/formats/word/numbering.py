"""The lists of Word documents, which number paragraphs that refer to them."""

from lxml import etree

from ingest.formats.office.numbering import CountedList, ListLevel
from ingest.formats.office.xml_tree import child, number, value


class Numbering:
    """Numbers the paragraphs of a document; call label() in document order."""

    def __init__(self, root: etree._Element | None) -> None:
        self._lists: dict[str, CountedList] = {}
        self._starts: dict[str, dict[int, int]] = {}
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
            name = value(item, "numId") or ""
            self._lists[name], self._starts[name] = mine, _starts(item)

    def label(self, key: str | None, level: int) -> str | None:
        """The number of the next paragraph of this list; empty for a bullet.

        None if there is no such list or level, or the level has no numbers.
        """
        found = self._lists.get(key or "")
        if found is None:
            return None
        # A list that begins again shares its levels with the one before.
        return found.label(level, self._starts[key or ""].pop(level, None))


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
    """Levels that a list redefines."""
    return {
        number(override, "ilvl") or 0: _level(level)
        for override in item.iterchildren("{*}lvlOverride")
        if (level := child(override, "lvl")) is not None
    }


def _starts(item: etree._Element) -> dict[int, int]:
    """The counts with which levels begin where a list is used first."""
    found = (
        (number(override, "ilvl") or 0, number(child(override, "startOverride")))
        for override in item.iterchildren("{*}lvlOverride")
    )
    return {level: start for level, start in found if start is not None}
