"""Numbers of headings and items in OpenDocument texts, as LibreOffice and older programs write."""

import io

import pytest

from ingest.formats.registry import extract
from tests.builders.make_office import open_document


def text(content: str, styles: str) -> str:
    return extract(io.BytesIO(open_document(content, styles=styles)), name="a.odt").text


def style(*levels: str, name: str = "N") -> str:
    rows = "".join(
        f'<text:list-level-style-number text:level="{number}" {level}/>'
        for number, level in enumerate(levels, start=1)
    )
    return f'<text:list-style style:name="{name}">{rows}</text:list-style>'


def outline(*levels: str) -> str:
    rows = "".join(
        f'<text:outline-level-style text:level="{number}" {level}/>'
        for number, level in enumerate(levels, start=1)
    )
    return f'<text:outline-style style:name="Outline">{rows}</text:outline-style>'


def listed(*items: str, more: str = 'text:style-name="N"') -> str:
    return f"<text:list {more}>{''.join(items)}</text:list>"


def item(content: str, *lists: str, more: str = "") -> str:
    return f"<text:list-item {more}><text:p>{content}</text:p>{''.join(lists)}</text:list-item>"


def head(content: str, level: int = 1, more: str = "") -> str:
    return f'<text:h text:outline-level="{level}" {more}>{content}</text:h>'


_NEW = (
    'style:num-list-format="%1%." style:num-format="1"',
    'style:num-list-format="%1%.%2%" style:num-format="1" text:display-levels="2"',
    'style:num-list-format="(%3%)" style:num-format="a" style:num-prefix="(" style:num-suffix=")"',
)
_OLD = (
    'style:num-format="1" style:num-suffix="."',
    'style:num-format="1" text:display-levels="2"',
    'style:num-format="a" style:num-prefix="(" style:num-suffix=")"',
)


@pytest.mark.parametrize("levels", [_NEW, _OLD])
def test_items_have_the_numbers_of_all_levels(levels: tuple[str, ...]) -> None:
    inner = listed(item("c"), item("d"), more="")
    lists = listed(item("a", listed(item("b", inner), item("e"), more="")), item("f"))

    assert text(lists, style(*levels)) == (
        "1. a\n   - 1.1 b\n      - (a) c\n      - (b) d\n   - 1.2 e\n2. f"
    )


@pytest.mark.parametrize("goes_on", ['text:continue-numbering="true"', 'text:continue-list="L"'])
def test_a_list_goes_on_behind_other_text(goes_on: str) -> None:
    named = 'text:style-name="N"'
    content = (
        listed(item("a"), more=f'{named} xml:id="L"')
        + "<text:p>between</text:p>"
        + listed(item("b"), more=f"{named} {goes_on}")
        + "<text:p>and</text:p>"
        + listed(item("c"))
    )

    assert text(content, style(*_NEW)) == "1. a\n\nbetween\n\n2. b\n\nand\n\n1. c"


@pytest.mark.parametrize(
    ("levels", "first", "label"),
    [
        ('style:num-format="1" style:num-suffix=")" text:start-value="4"', "", "4)"),
        ('style:num-format="1"', 'text:start-value="7"', "7."),
        ('style:num-format="I" style:num-suffix="."', 'text:start-value="9"', "- IX."),
        ('style:num-format="A" style:num-prefix="§ "', "", "- § A"),
        ('style:num-format=""', "", "-"),
    ],
)
def test_lists_begin_where_they_say(levels: str, first: str, label: str) -> None:
    assert text(listed(item("a", more=first)), style(levels)) == f"{label} a"


def test_an_inner_list_with_a_style_of_its_own_counts_by_it() -> None:
    inner = listed(item("b"), more='text:style-name="M"')
    styles = style(*_NEW) + style("", 'style:num-format="i" style:num-suffix=")"', name="M")

    assert text(listed(item("a", inner), item("c")), styles) == "1. a\n   - i) b\n2. c"


def test_headings_have_the_numbers_of_the_outline() -> None:
    styles = (
        outline(
            'style:num-format="1"',
            'style:num-format="1" text:display-levels="2"',
            'style:num-format=""',
        )
        + '<style:style style:name="Bare" style:family="paragraph" style:list-style-name=""/>'
    )
    content = (
        head("Preface", more='text:style-name="Bare"')
        + head("Terms") + head("Scope", 2) + head("Detail", 3) + head("Limits", 2)
        + head("Unnumbered", 2, more='text:is-list-header="true"')
        + head("") + head("Payment") + head("When", 2)
    )  # fmt: skip

    assert text(content, styles).split("\n\n") == [
        "# Preface", "# 1 Terms", "## 1.1 Scope", "### Detail", "## 1.2 Limits",
        "## Unnumbered", "# 2 Payment", "## 2.1 When",
    ]  # fmt: skip


def test_headings_in_lists_are_numbered_by_them() -> None:
    """As LibreOffice writes those of Word."""
    deeper = f"<text:list><text:list-item>{head('Scope', 2)}</text:list-item></text:list>"
    content = (
        listed(f"<text:list-item>{head('Terms')}</text:list-item>")
        + "<text:p>Text</text:p>"
        + listed(
            f"<text:list-item>{deeper}</text:list-item>",
            f"<text:list-item>{head('Payment')}{deeper}</text:list-item>",
            more='text:style-name="N" text:continue-numbering="true"',
        )
    )

    assert text(content, style(*_NEW)).split("\n\n") == [
        "# 1. Terms", "Text", "## 1.1 Scope", "# 2. Payment", "## 2.1 Scope",
    ]  # fmt: skip


def test_a_header_of_a_list_has_no_number() -> None:
    header = "<text:list-header><text:p>Note</text:p></text:list-header>"

    assert text(listed(item("a"), header, item("b")), style(*_NEW)) == "1. a\n- Note\n2. b"


@pytest.mark.parametrize(
    ("level", "label"),
    [
        (f'style:num-prefix="{"p" * 9999}"', f"- {'p' * 100}"),
        (f'style:num-suffix="{"s" * 9999}"', f"- 1{'s' * 98}"),
        (f'style:num-list-format="{"%1%" * 9999}"', f"{'1' * 50}."),
    ],
)
def test_labels_of_items_are_cut(level: str, label: str) -> None:
    assert text(listed(item("a")), style(f'style:num-format="1" {level}')) == f"{label} a"


@pytest.mark.parametrize("where", ["style", "item"])
def test_a_start_of_thousands_of_digits_counts_as_none(where: str) -> None:
    start = f'text:start-value="{"9" * 5000}"'
    levels = f'style:num-format="1" style:num-suffix=")" {start if where == "style" else ""}'
    first = item("a", more=start if where == "item" else "")

    assert text(listed(first, item("b")), style(levels)) == "1) a\n2) b"
