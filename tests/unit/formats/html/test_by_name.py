from types import ModuleType

import pytest

from ingest.formats.html import checkboxes, inline_elements, inline_text, tidy
from ingest.formats.html.by_name import ByName, used_names
from ingest.formats.html.parse import parse_page

PATH = (
    "//p[contains(@class, 'note') or contains(concat(' ', @class, ' '), ' side-bar ')"
    " or @role='tip']"
)


@pytest.mark.parametrize(
    ("markup", "found"),
    [
        ("<p class='a'>1<p class='footnotes'>2<p class='side-bar x'>3<p class='side-bars'>4", "23"),
        ("<div class='note'><p>1</div>", ""),
        ("<p class='side-bars'>1", ""),
        ("<p class='n&#111;te'>1", "1"),
        ("<p role='tip'>1<p role='tips'>2", "1"),
        ("<p>1", ""),
    ],
)
def test_by_name_finds_what_its_path_finds(markup: str, found: str) -> None:
    tree, _ = parse_page(markup)
    assert "".join(p.text for p in ByName(PATH)(tree, used_names(tree))) == found


@pytest.mark.parametrize("module", [checkboxes, inline_elements, inline_text, tidy])
def test_each_class_of_a_path_lets_it_run(module: ModuleType) -> None:
    """A class that is not recognised in the path would never be found."""
    queries = [value for value in vars(module).values() if isinstance(value, ByName)]
    assert queries
    for query in queries:
        assert len(query.names) == sum(map(query.path.count, ("contains(", "@role=")))
        assert all(name in query.path for name in query.names)


def test_a_path_runs_only_if_one_of_its_classes_is_used() -> None:
    tree, _ = parse_page("<p class='note'>1")
    assert ByName(PATH)(tree, "other\nfootnotes")
    assert not ByName(PATH)(tree, "other")
