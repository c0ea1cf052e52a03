"""Breadcrumbs show headings as they are read, without Markdown's marks."""

import pytest

from ingest.chunking.structure_reader import read_structure


@pytest.mark.parametrize(
    ("marked", "shown"),
    [
        ("The [queue](docs/queue.md) and its [limits](<#limits>)", "The queue and its limits"),
        ('[Wiki](https://a.example/Lion_(animal) "a lion")', "Wiki"),
        ("![Logo](logo.png) rag-ingest", "Logo rag-ingest"),
        ("[![build](b.svg)](https://ci.example) Name", "build Name"),
        ("`ingest serve` and ``a`b``", "ingest serve and a`b"),
        ("[`Pool.run`](pool.md)(size)", "Pool.run(size)"),
        ("**Bold** and *it*, ***both***", "Bold and it, both"),
        (r"1\. Costs in \$ \[net\]", "1. Costs in $ [net]"),
        ("Results[^3]", "Results"),
        # No marks:
        ("`**kwargs` and `a\\_b`", "**kwargs and a\\_b"),
        ("__init__ and snake_case_name", "__init__ and snake_case_name"),
        ("2 * 3 * 4 and f(*args)", "2 * 3 * 4 and f(*args)"),
        ("Array[int] (fixed), a[i](j", "Array[int] (fixed), a[i](j"),
        (r"C:\new and \d+", r"C:\new and \d+"),
        ("A lone ` tick", "A lone ` tick"),
    ],
)
def test_marks_of_titles_are_not_shown(marked: str, shown: str) -> None:
    [atx] = read_structure(f"# {marked}\n\ntext\n").headings
    [underlined] = read_structure(f"{marked}\n====\n\ntext\n").headings

    assert (atx.title, underlined.title) == (shown, shown)


def test_a_long_line_of_marks_is_a_title_soon() -> None:
    for piece in ("[", "`a", "*a", "![a](", "[[a](", "\\"):
        read_structure(f"# {piece * 100_000}\n")
