"""Documents inside a page that browsers show in place.

Shadow roots, frames with their source, and parts that were sent behind the page.
"""

import re

from lxml import etree, html

from ingest.formats.html.embedded.streamed_parts import place_streamed_parts
from ingest.formats.html.hidden_text import drop_hidden
from ingest.formats.html.parse import flat_text, is_deep, parse_page
from ingest.formats.html.style_sheets.inline_styles import write_styles
from ingest.formats.html.unseen import Unseen
from ingest.optional_steps import improve

_FRAMES = etree.XPath("//iframe[normalize-space(@srcdoc)]")
_LEVELS = 3  # of frames in frames
_SENTENCE = 40  # characters
_NOTHING = re.compile(r"\s*0+(?:px|%)?\s*")  # width or height
_KEPT = ("style", "hidden", "class", "id")


def unfold_documents(
    tree: html.HtmlElement, levels: int = _LEVELS, *, has_scripts: bool = True
) -> Unseen:
    """Change the page in place: blocks in place of the documents.

    Returns what is not seen in frames, and what stands in place of those that are not at hand.
    """
    found = Unseen.NOTHING
    if has_scripts and improve("tidying", lambda: place_streamed_parts(tree), otherwise=bool):
        found |= Unseen.SCRIPT
    is_of_frames = next(tree.iter("frameset"), None) is not None
    for element in list(tree.iter("noframes")):
        if len(" ".join(element.itertext()).strip()) >= _SENTENCE:
            found |= Unseen.HIDDEN  # browsers show the frames instead
        if is_of_frames:
            _unfold_noframes(element)
        else:
            element.drop_tree()
    for frame in _FRAMES(tree) if levels else ():
        found |= _unfold_frame(frame, levels - 1, has_scripts=has_scripts)
    _unfold_shadows(tree)
    return found


def _unfold_noframes(element: html.HtmlElement) -> None:
    """What a page of frames says without them, which the parser takes for text."""
    if len(element) or "<" not in (element.text or ""):
        return
    inner, is_whole = parse_page(element.text)
    body = inner.find("body")
    if not is_whole or body is None or is_deep(inner):
        element.text = flat_text(element.text)
    else:
        body.tag, element.text = "div", None
        element.append(body)
    element.tag = "div"


def _unfold_frame(frame: html.HtmlElement, levels: int, *, has_scripts: bool) -> Unseen:
    source, tail = frame.get("srcdoc"), frame.tail
    kept = {name: frame.get(name) for name in _KEPT if name in frame.attrib}
    if any(_NOTHING.fullmatch(frame.get(name, "")) for name in ("width", "height")):
        kept["hidden"] = ""
    kept["style"] = f"{kept.get('style', '')};overflow:hidden"  # a frame cuts what it shows
    frame.clear()
    frame.tag, frame.tail = "div", tail
    frame.attrib.update(kept)
    inner, is_whole = parse_page(source)
    body = inner.find("body")
    if not is_whole or body is None:
        frame.text = flat_text(source)
        return Unseen.NOTHING
    found = unfold_documents(inner, levels, has_scripts=has_scripts)
    write_styles(inner)  # its style sheets are not for the page around
    found |= drop_hidden(inner, has_scripts=has_scripts)
    if body.getparent() is None:  # hidden
        return found
    etree.strip_elements(body, "link", with_tail=False)
    if is_deep(inner):
        frame.text = " ".join(" ".join(body.itertext()).split())
    else:
        body.tag = "div"
        frame.append(body)
    return found


def _unfold_shadows(tree: html.HtmlElement) -> None:
    hosts: set[html.HtmlElement] = set()
    for template, slots in _shadow_roots(tree):
        host = template.getparent()
        if host is None:
            continue
        if host in hosts:  # it has one already
            template.drop_tree()
        else:
            hosts.add(host)
            _unfold_shadow(template, slots)


def _shadow_roots(
    tree: html.HtmlElement,
) -> list[tuple[html.HtmlElement, dict[str, html.HtmlElement]]]:
    """The shadow roots with their slots by name, without those of roots inside; linear time."""
    if next(tree.iter("template"), None) is None:
        return []
    slots: dict[html.HtmlElement, dict[str, html.HtmlElement]] = {}
    around: list[html.HtmlElement] = []
    walk = etree.iterwalk(tree, events=("start", "end"), tag=("template", "slot"))
    for event, element in walk:
        if _is_shadow_root(element):
            if event == "end":
                around.pop()
            else:
                around.append(element)
                slots[element] = {}
        elif element.tag == "slot" and event == "start" and around:
            slots[around[-1]].setdefault(element.get("name", ""), element)
    return list(slots.items())


def _is_shadow_root(element: html.HtmlElement) -> bool:
    names = ("shadowrootmode", "shadowroot")
    return element.tag == "template" and any(name in element.attrib for name in names)


def _unfold_shadow(template: html.HtmlElement, slots: dict[str, html.HtmlElement]) -> None:
    """The template in place of the children of its host, which it shows in its slots."""
    filled = set()
    for child in list(template.getparent()):
        name = child.get("slot", "")
        slot = slots.get(name)
        if slot is None or _is_shadow_root(child):
            continue
        if name not in filled:  # what it has is shown if it gets nothing
            filled.add(name)
            slot.text = None
            del slot[:]
        slot.append(child)
    template.tag = "div"
