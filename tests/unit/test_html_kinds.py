"""The expressions of main-content detection, asked by kind: the same elements are found."""

import importlib.util
import random
from importlib import import_module
from types import ModuleType

import pytest
from lxml import etree, html
from trafilatura import xpaths
from trafilatura.settings import BASIC_CLEAN_XPATH

from ingest.pipeline.extract import html as html_extractor
from ingest.pipeline.extract import html_kinds
from ingest.pipeline.extract.html_kinds import by_kind

_NAMES = (
    "div",
    "p",
    "span",
    "section",
    "aside",
    "article",
    "main",
    "ul",
    "item",
    "list",
    "h1",
    "footer",
    "svg",
)
_WORDS = """
    nav Nav share-it sidebar cookie post-content articleBody story-body content-main main content
    Main-Content page-content comments Comments commentary infinite-scroll mvp-post-add-box teaser
    caption widget hidden entry footer Cookie-Banner article duck pond x comments-title
    elementor-share-buttons
""".split()  # noqa: SIM905  (a list of lines would be longer)
_STYLES = ("display:none", "display: none", "visibility:hidden", "border:0", "color:red")


def _library() -> ModuleType:
    """Its expressions as they are before anybody changes its lists."""
    spec = importlib.util.find_spec("trafilatura.xpaths")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_LISTS = (
    "BODY_XPATH",
    "RAW_TREE_PRUNE_XPATH",
    "REMOVE_COMMENTS_AND_LISTS_XPATH",
    "OVERALL_DISCARD_XPATH",
    "TEASER_DISCARD_XPATH",
    "DISCARD_IMAGE_ELEMENTS",
)
_EXPRESSIONS = [
    pytest.param(expression, id=f"{name}-{index}")
    for name in _LISTS
    for index, expression in enumerate(getattr(_library(), name))
] + [pytest.param(BASIC_CLEAN_XPATH, id="BASIC_CLEAN_XPATH")]


def _page(seed: int, *, words: int) -> html.HtmlElement:
    """Elements of all kinds inside of one another, a class before an id and behind it."""
    rng = random.Random(seed)
    elements = [html.Element("body")]
    for _ in range(300):
        element = etree.SubElement(rng.choice(elements[-8:]), rng.choice(_NAMES))
        for name in rng.sample(("id", "class", "role", "style", "data-x", "aria-hidden"), k=2):
            values = {"style": _STYLES, "aria-hidden": ("true", "false")}.get(name, _WORDS[-words:])
            element.set(name, " ".join(rng.choices(values, k=rng.choice((0, 1, 1, 2)))))
        elements.append(element)
    return elements[0]


@pytest.mark.parametrize("expression", _EXPRESSIONS)
@pytest.mark.parametrize("words", [3, len(_WORDS)])
def test_the_same_elements_are_found(expression: etree.XPath, words: int) -> None:
    asked = by_kind(expression)

    for seed in range(20):
        page = _page(seed, words=words)
        assert asked(page) == expression(page)


def test_what_is_remembered_of_a_page_holds_for_the_next() -> None:
    expression = etree.XPath(".//*[self::div][starts-with(@id|@class, 'a')]")
    asked = by_kind(expression)

    for page in ("<div id=b class=a>", "<div class=a id=b>", "<p id=a>", "<div id=b>", "<div>"):
        tree = html.fromstring(f"<main>{page}</main>")
        assert asked(tree) == expression(tree), page


def test_the_library_asks_by_kind() -> None:
    assert callable(html_extractor.extract)  # importing it is what changes the library
    held = [*xpaths.OVERALL_DISCARD_XPATH, *xpaths.BODY_XPATH, *xpaths.RAW_TREE_PRUNE_XPATH]
    held.append(import_module("trafilatura.baseline").BASIC_CLEAN_XPATH)

    assert sum(isinstance(expression, html_kinds._ByKind) for expression in held) == 8


@pytest.mark.parametrize(
    "path",
    ["(.//article)[1]", "(.//*[@id])[1]|(.//main)[1]", ".//*[div[@id]]", "//*[@id]", ".//p|.//div"],
)
def test_what_is_no_question_of_kinds_stays_as_it_is(path: str) -> None:
    expression = etree.XPath(path)

    assert by_kind(expression) is expression


def test_no_memory_is_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_kinds, "_MOST_KINDS", 5)
    asked = by_kind(etree.XPath(".//*[@id='a7']"))
    assert isinstance(asked, html_kinds._ByKind)

    for number in range(20):
        found = asked(html.fromstring(f"<main><p id=a{number}></main>"))
        assert len(found) == (number == 7)
        assert len(asked._holds | asked._fails) <= 5


def test_where_no_element_is_like_another_each_is_asked() -> None:
    expression = etree.XPath(".//*[starts-with(@id, 'a1')]")
    asked = by_kind(expression)
    assert isinstance(asked, html_kinds._ByKind)
    page = html.fromstring("".join(f"<p id=a{number}>" for number in range(3000)))

    assert asked(page) == expression(page)
    assert not asked._holds | asked._fails
