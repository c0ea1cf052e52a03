"""Ticked and empty boxes as `[x]` and `[ ]`."""

from lxml import etree, html

from ingest.formats.html.boilerplate import name_words
from ingest.formats.html.by_name import ByName
from ingest.formats.html.text_stats import INLINE

_FIELDS = etree.XPath("//input[@type]")
_ROLES = ByName("//*[@aria-checked][@role='checkbox' or @role='radio']")
_TASKS = ByName(
    "//ul[contains(@class, 'inline-task-list') or contains(@class, 'task-list')]/li[not(.//input)]"
)
_ON = frozenset({"on", "check", "checked", "ticked", "done"})
_KINDS = frozenset({"checkbox", "radio"})
_TICKED, _EMPTY = "[x]", "[ ]"
_SYMBOLS = "☰≡\u00d7✕ \n\t\r"  # what opens and closes menus
# Boxes that are drawn by a style: Notion, Discourse, icon fonts.
_DRAWN = ByName(
    "//*[self::div or self::span or self::i][not(*)][not(normalize-space())]"
    "[contains(@class, 'checkbox') or contains(@class, 'chcklst-box')"
    " or contains(@class, 'fa-square') or contains(@class, 'fa-check-square')]"
    "[not(parent::*[.//input])]"
)
_DONE = frozenset({"checked", "done", "complete", "completed"})


def write_checkboxes(tree: html.HtmlElement, used: str) -> None:
    """Replace the boxes of a page, in place, but not those without a label, which are switches of
    a menu.

    `used`: see by_name.used_names().
    """
    for label in tree.iter("label"):
        label.tail = label.tail or " "
    for item in _TASKS(tree, used):
        is_ticked = bool(_DONE & set((item.get("class") or "").split()))
        item.text = f"{_mark(is_ticked)} {(item.text or '').lstrip()}"
    for box in _DRAWN(tree, used):
        box.tag = "span"
        box.text = _mark(bool(_ON & name_words(box)))
    for field in _FIELDS(tree):
        if field.get("type", "").lower() in _KINDS and _has_label(field):
            _put(field, "checked" in field.attrib)
    for element in _ROLES(tree, used):
        is_ticked = element.get("aria-checked") == "true"
        element.text = f"{_mark(is_ticked)} {element.text or ''}"


def _mark(is_ticked: bool) -> str:
    return _TICKED if is_ticked else _EMPTY


def _put(field: html.HtmlElement, is_ticked: bool) -> None:
    tail = field.tail or ""
    following = field.getnext()
    if not tail.strip() and following is not None and following.tag in ("p", "div", "label"):
        following.text = f"{_mark(is_ticked)} {(following.text or '').lstrip()}"
        field.drop_tree()
        return
    field.clear()
    field.tag = "span"
    field.text = _mark(is_ticked)
    field.tail = tail if tail[:1].isspace() or not tail else f" {tail}"


def _has_label(field: html.HtmlElement) -> bool:
    """Whether it is in its label or a cell, or beside its label."""
    if (field.tail or "").strip():
        return True
    parent = field.getparent()
    if parent is None:
        return False
    if parent.tag in ("td", "th"):
        return True
    if parent.tag in ("label", "li"):
        return bool(parent.text_content().strip(_SYMBOLS)) or _is_before_text(parent)
    beside = [field.getnext()]
    if field.get("id") and (previous := field.getprevious()) is not None:
        beside += [previous] if previous.get("for") == field.get("id") else []
    return any(
        other is not None and other.tag in INLINE and other.text_content().strip(_SYMBOLS)
        for other in beside
    )


def _is_before_text(label: html.HtmlElement) -> bool:
    """Whether a label around a box alone stands in front of its words, as in lists of tasks."""
    return label.tag == "label" and bool((label.tail or "").strip())
