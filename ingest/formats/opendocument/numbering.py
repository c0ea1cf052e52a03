"""The lists of OpenDocument texts, and the numbers of headings, which are one list."""

from lxml import etree

from ingest.formats.office.numbering import CountedList
from ingest.formats.office.xml_tree import attribute
from ingest.formats.opendocument.styles import OUTLINE, OdfStyles


class OdfLists:
    """Knows which lists go on counting where others ended; call in document order."""

    def __init__(self, styles: OdfStyles) -> None:
        self._styles = styles
        self._headings = CountedList(styles.levels(OUTLINE))
        self._by_id: dict[str, CountedList] = {}
        self._by_style: dict[str | None, CountedList] = {styles.outline: self._headings}

    def open(self, element: etree._Element, style: str | None) -> CountedList:
        """The counted list that an outermost text:list begins or continues."""
        found = self._by_id.get(attribute(element, "continue-list") or "")
        goes_on = attribute(element, "continue-numbering") == "true"
        if found is None and (goes_on or style == self._styles.outline):
            found = self._by_style.get(style)
        if found is None:
            found = CountedList(self._styles.levels(style))
        self._by_style[style] = found
        if key := attribute(element, "id"):
            self._by_id[key] = found
        return found

    def heading(self, element: etree._Element, level: int) -> str:
        """The number of a heading outside of lists, 1 is the outermost; empty if it has none."""
        if attribute(element, "is-list-header") == "true":
            return ""
        restart = attribute(element, "restart-numbering") == "true"
        return self._headings.label(level - 1, 1 if restart else None) or ""
