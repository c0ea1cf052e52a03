"""Documents inside a page that browsers show in place: shadow roots, frames with their source."""

from lxml import etree, html

from ingest.formats.html.parse import flat_text, parse_page

_SHADOW_ROOTS = etree.XPath("//template[@shadowrootmode or @shadowroot]")
_FRAMES = etree.XPath("//iframe[normalize-space(@srcdoc)]")
_LEVELS = 3  # of frames in frames


def unfold_documents(tree: html.HtmlElement) -> None:
    """Change the page in place: blocks in place of the documents."""
    for _ in range(_LEVELS):
        frames = _FRAMES(tree)
        for frame in frames:
            _unfold_frame(frame)
        if not frames:
            break
    for template in _SHADOW_ROOTS(tree):
        _unfold_shadow(template)


def _unfold_frame(frame: html.HtmlElement) -> None:
    source, tail = frame.get("srcdoc"), frame.tail
    style, hidden = frame.get("style"), frame.get("hidden")
    frame.clear()
    frame.tag, frame.tail = "div", tail
    for name, value in (("style", style), ("hidden", hidden)):
        if value is not None:
            frame.set(name, value)
    inner, is_whole = parse_page(source)
    body = inner.find("body") if is_whole else None
    if body is None:
        frame.text = flat_text(source)
    else:
        frame.text = body.text
        frame.extend(list(body))


def _unfold_shadow(template: html.HtmlElement) -> None:
    """The template in place of the children of its host, which it shows in its slots."""
    host = template.getparent()
    if host is None:
        return
    slots: dict[str, html.HtmlElement] = {}
    for slot in template.iter("slot"):
        slots.setdefault(slot.get("name", ""), slot)
    filled = set()
    for child in list(host):
        name = child.get("slot", "")
        slot = slots.get(name)
        if child is template or slot is None:
            continue
        if name not in filled:  # what it has is shown if it gets nothing
            filled.add(name)
            slot.text = None
            del slot[:]
        slot.append(child)
    template.tag = "div"
