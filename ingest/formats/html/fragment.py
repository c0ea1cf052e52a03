"""HTML without boilerplate, read completely: bodies of messages, chapters of books.

No scripts run in them, so what is folded stays hidden.
"""

from lxml import etree, html

from ingest.formats.html.embedded.inner_documents import unfold_documents
from ingest.formats.html.form_values import write_form_values
from ingest.formats.html.hidden_text import drop_hidden
from ingest.formats.html.letter_order import reorder_page
from ingest.formats.html.page import to_markdown
from ingest.formats.html.parse import flat_text, is_deep, parse_page
from ingest.formats.html.pictures import name_drawings
from ingest.formats.html.style_sheets.inline_styles import write_styles
from ingest.formats.html.tidy import tidy
from ingest.formats.html.unseen import Unseen
from ingest.optional_steps import attempt, improve

_STUB = 5  # a text is a stub if the page is this many times longer
_VISIBLE_TEXT = etree.XPath("//body//text()[not(parent::style or parent::script)]")


def whole_markdown(markup: str, *, is_visual: bool = False) -> tuple[str, bool]:
    """All visible text of a page in Markdown, and whether it hides a sentence.

    `is_visual`: its letters are in the order of display (common/letter_order.py).
    """
    return improve(
        "markup",
        lambda: _whole_markdown(markup, is_visual=is_visual),
        otherwise=lambda: (flat_text(markup), False),
    )


def _whole_markdown(markup: str, *, is_visual: bool) -> tuple[str, bool]:
    tree, is_whole = parse_page(markup)
    if is_visual:
        attempt("right_to_left", lambda: reorder_page(tree))
    return tree_markdown(tree) if is_whole else (flat_text(markup), False)


def says_more(markup: str, *, than: str) -> bool:
    """Whether the text is only a stub for the page, such as "your program cannot show HTML".

    Compares lengths, because converting the page takes far longer.
    """
    length = len(than.strip())
    if not length:
        return True
    shown = sum(len(text.strip()) for text in _VISIBLE_TEXT(parse_page(markup)[0]))
    return shown > _STUB * length


def html_tree(markup: str) -> html.HtmlElement | None:
    """The page as a tree; None if it is nested too deeply."""
    tree, is_whole = parse_page(markup)
    return tree if is_whole else None


def tree_markdown(tree: html.HtmlElement) -> tuple[str, bool]:
    """Like whole_markdown(), for a tree, which is changed."""
    found = improve(
        "tidying", lambda: unfold_documents(tree, has_scripts=False), otherwise=_nothing
    )
    if is_deep(tree):
        markup = etree.tostring(tree, encoding="unicode", method="html")
        return flat_text(markup), Unseen.HIDDEN in found
    attempt("styles", lambda: write_styles(tree))
    found |= improve(
        "hidden_text", lambda: drop_hidden(tree, has_scripts=False), otherwise=_nothing
    )
    attempt("tidying", lambda: name_drawings(tree))
    attempt("tidying", lambda: write_form_values(tree))
    attempt("tidying", lambda: tidy(tree))
    markdown = to_markdown(etree.tostring(tree, encoding="unicode", method="html"))
    return markdown, Unseen.HIDDEN in found


def _nothing() -> Unseen:
    return Unseen.NOTHING
