"""Take the furniture out of a page; everything else stays, and what went is counted."""

from collections.abc import Iterable
from dataclasses import dataclass

from lxml import html

from ingest.formats.html.furniture import furniture, outermost
from ingest.formats.html.surroundings import Surroundings
from ingest.formats.html.text_weights import Weight, weigh

_MOST_DOUBTFUL = 0.3  # unlinked text of doubtful blocks, as a share of what is left without them


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """How much was taken out of a page."""

    text: int = 0
    """Bytes of UTF-8."""
    share: float = 0.0
    """Of all text of the page."""
    is_unsure: bool = False
    """More was doubtful than may be left out, so that all but sure furniture was kept."""


def drop_furniture(tree: html.HtmlElement) -> LeftOut:
    """Change the page in place; a page that has text never ends without any."""
    _settle_noscript(tree)
    weights = weigh(tree)
    known = set(furniture(tree, weights))
    around = Surroundings(tree, weights, known)
    sure = list(outermost(tree, known.union(around.furniture).__contains__))
    everything = list(outermost(tree, {*sure, *around.doubtful}.__contains__))
    page = weights[tree].text
    gone, most = _sum(map(weights.get, sure)), _sum(map(weights.get, everything))
    if most.text >= page:
        return LeftOut(is_unsure=page > 0)
    is_unsure = most.unlinked - gone.unlinked > _MOST_DOUBTFUL * (page - most.text)
    for element in sure if is_unsure else everything:
        element.drop_tree()
    text = (gone if is_unsure else most).text
    return LeftOut(text=text, share=round(text / page, 3), is_unsure=is_unsure)


def _sum(weights: Iterable[Weight | None]) -> Weight:
    whole = Weight()
    for weight in weights:
        if weight is not None:
            whole.text += weight.text
            whole.linked += weight.linked
    return whole


def _settle_noscript(tree: html.HtmlElement) -> None:
    """Text for browsers without scripts: the page, where scripts bring the rest; else a copy."""
    elements = list(tree.iter("noscript"))
    whole = len(tree.text_content().strip()) if elements else 0
    inside = sum(len(element.text_content().strip()) for element in elements)
    for element in elements:
        if 2 * inside > whole:
            element.tag = "div"
        elif element.getparent() is not None:
            element.drop_tree()
