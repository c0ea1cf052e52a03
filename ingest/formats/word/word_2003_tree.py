"""Turns the tree of a Word 2003 document in XML into that of Word 2007.

Word 2003 keeps notes, comments, headers and addresses of links where they are referred to; Word
2007 in other parts.
"""

from dataclasses import dataclass, field
from typing import Final

from lxml import etree

from ingest.formats.office.opc import Relation
from ingest.formats.office.xml_tree import attribute, child, local, value
from ingest.formats.word.word_97.styles import NUMBER_FORMATS
from ingest.formats.word.word_97.tree import add, element

_CHANGES: Final = {"Word.Insertion": "ins", "Word.Deletion": "del"}
_COMMENT: Final = "Word.Comment"


@dataclass(slots=True)
class Taken:
    """What was taken out of the text."""

    notes: dict[tuple[str, str], etree._Element] = field(default_factory=dict)
    """By kind (`footnote`, `endnote`) and id."""
    comments: list[etree._Element] = field(default_factory=list)
    margins: dict[str, list[etree._Element]] = field(default_factory=dict)
    """Headers as `hdr`, footers as `ftr`."""
    relations: dict[str, Relation] = field(default_factory=dict)
    """Addresses of links, by the ids that they got."""


def modernise(root: etree._Element) -> Taken:
    """Change the tree, and return what Word 2007 keeps elsewhere."""
    taken = Taken()
    for item in list(root.iter("{*}annotation")):
        _convert_annotation(item, taken)
    for kind in ("footnote", "endnote"):
        for item in list(root.iter("{*}" + kind)):
            _take_note(item, kind, taken)
    for kind in ("hdr", "ftr"):
        found = [item for item in root.iter("{*}" + kind) if _is_in_section(item)]
        taken.margins[kind] = found
    for item in root.iter("{*}hlink"):
        _rename(item, "hyperlink")
        key = f"link{len(taken.relations)}"
        item.set(f"{{{_namespace(item)}}}id", key)
        target = value(item, "dest")
        if target:
            taken.relations[key] = Relation(kind="hyperlink", target=target, is_external=True)
    for item in root.iter("{*}listPr"):
        _rename(item, "numPr")
        for number in item.iterchildren("{*}ilfo"):
            _rename(number, "numId")
    return taken


def numbering(root: etree._Element) -> etree._Element | None:
    """The lists, as Word 2007 defines them; None if there are none."""
    lists = child(root, "lists")
    if lists is None:
        return None
    made = element("numbering")
    for item in lists.iterchildren("{*}listDef"):
        definition = add(made, "abstractNum", abstractNumId=value(item, "listDefId") or "")
        for level in item.iterchildren("{*}lvl"):
            _add_level(definition, level)
    for item in lists.iterchildren("{*}list"):
        used = add(made, "num", numId=value(item, "ilfo") or "")
        add(used, "abstractNumId", val=value(child(item, "ilst")) or "")
    return made


def _add_level(definition: etree._Element, level: etree._Element) -> None:
    made = add(definition, "lvl", ilvl=value(level, "ilvl") or "0")
    add(made, "start", val=value(child(level, "start")) or "1")
    code = value(child(level, "nfc")) or "0"
    shown = NUMBER_FORMATS.get(int(code), "decimal") if code.isdecimal() else "decimal"
    add(made, "numFmt", val=shown)
    add(made, "lvlText", val=value(child(level, "lvlText")) or "")


def _convert_annotation(item: etree._Element, taken: Taken) -> None:
    kind, content, parent = attribute(item, "type") or "", child(item, "content"), _parent(item)
    if kind == _COMMENT and parent is not None:
        taken.comments.append(item)
        parent.remove(item)
    elif kind in _CHANGES and parent is not None:
        item.tag = f"{{{_namespace(parent)}}}{_CHANGES[kind]}"
        if content is not None:
            item[:] = list(content)


def _take_note(item: etree._Element, kind: str, taken: Taken) -> None:
    parent = _parent(item)
    if parent is None or local(parent) != "r":  # else it says how the notes are separated
        return
    number = str(len(taken.notes))
    taken.notes[kind, number] = item
    reference = etree.Element(f"{{{_namespace(item)}}}{kind}Reference")
    reference.set(f"{{{_namespace(item)}}}id", number)
    parent.replace(item, reference)


def _rename(item: etree._Element, name: str) -> None:
    item.tag = f"{{{_namespace(item)}}}{name}"


def _namespace(item: etree._Element) -> str:
    return str(etree.QName(item).namespace or "")


def _parent(item: etree._Element) -> etree._Element | None:
    return item.getparent()


def _is_in_section(item: etree._Element) -> bool:
    parent = _parent(item)
    return parent is not None and local(parent) == "sectPr"
