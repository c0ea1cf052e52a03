"""Text of DrawingML paragraphs: shapes of slides, cells of their tables, charts, diagrams."""

from lxml import etree

from ingest.formats.common.raised_text import lowered, raised, written_out
from ingest.formats.office.xml_tree import child, local


def paragraph_text(paragraph: etree._Element) -> str:
    """Text of the runs without the slide number; equations yield their symbols."""
    pieces = (
        "\n" if local(item) == "br" else _shown(item)
        for item in paragraph.iter("{*}t", "{*}br")
        if item.getparent().get("type") != "slidenum"
    )
    return written_out("".join(pieces))


def text_of(element: etree._Element) -> str:
    """The paragraphs of an element, one per line."""
    return "\n".join(paragraph_text(paragraph) for paragraph in element.iter("{*}p"))


def _shown(item: etree._Element) -> str:
    text = item.text or ""
    properties = child(item.getparent(), "rPr")
    baseline = "" if properties is None else properties.get("baseline", "")
    if not baseline.strip("-0%") or not text:
        return text
    return lowered(text) if baseline.startswith("-") else raised(text)
