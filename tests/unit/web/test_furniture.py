"""Blocks that repeat at the edges of a site's pages are its furniture; nothing else is."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.model import Document
from ingest.web.furniture import (
    FEWEST_PAGES,
    decide,
    leave_out,
    put_back,
    read_page,
    without_furniture,
)
from ingest.web.page_blocks import split_blocks

MENU = "- [Home](/)\n- [Tide tables](/tides)\n- [Berths](/berths)"
FOOT = "Harbour office, Long Quay"
NUMBERS = range(20)

Markdown = st.text(alphabet="ab1 \n#-*|`~>[](). 。é\t", max_size=120)


def own_text(number: int) -> str:
    name = f"{chr(ord('a') + number % 26)}x{chr(ord('a') + number // 26)}"
    return f"Pier {name} was built by hand, and only the boats of {name} are allowed to use it."


def cleaned(build: Callable[[int], Sequence[str]], count: int = len(NUMBERS)) -> list[str]:
    """The pages of a site, each given by its blocks, without its furniture."""
    texts = {f"/{number}": "\n\n".join(build(number)) + "\n" for number in range(count)}
    found = decide([read_page(uri, text) for uri, text in texts.items()])
    return [leave_out(text, found, uri)[0] for uri, text in texts.items()]


def menu(number: int) -> str:
    """The menu on one of its pages: that entry is no link, and links are relative."""
    items = [f"- [{name}]({'../' * (number % 3)}{name})" for name in ("Home", "Tides", "Berths")]
    items[number % 3] = f"- **{('Home', 'Tides', 'Berths')[number % 3]}**"
    return "\n".join(items)


# ---------------------------------------------------------------- what is furniture


def test_menus_and_footers_go_and_all_else_stays() -> None:
    pages = cleaned(lambda n: (MENU, f"# Pier {n}", own_text(n), FOOT))

    assert pages == [f"# Pier {n}\n\n{own_text(n)}\n\n" for n in NUMBERS]


def test_an_entry_is_the_same_wherever_it_leads_and_whether_it_is_a_link() -> None:
    pages = cleaned(lambda n: (menu(n), own_text(n)))

    assert pages == [f"{own_text(n)}\n" for n in NUMBERS]


def test_a_date_does_not_make_another_block() -> None:
    found = decide(
        [read_page(f"/{n}", f"{own_text(n)}\n\nPrinted on 2026-11-29\n") for n in NUMBERS]
    )
    text, removed = leave_out(f"{own_text(1)}\n\nPrinted on 2027-01-30\n", found, "/1")

    assert (text, removed[0][1]) == (f"{own_text(1)}\n\n", "Printed on 2027-01-30\n")


def test_prices_on_all_pages_stay() -> None:
    pages = cleaned(lambda n: (own_text(n), f"Price: {10 + n}.50 EUR", FOOT))

    assert all(f"Price: {10 + n}.50 EUR" in page for n, page in enumerate(pages))
    assert all(FOOT not in page for page in pages)


def test_entries_of_one_page_between_those_of_all_pages_do_not_end_the_menu() -> None:
    def build(n: int) -> Sequence[str]:
        word = own_text(n)[5:8]
        return "- [Home](/)", f"- [Section {word}](/s)", MENU, "- [Charts](/c)", own_text(n)

    assert all("Charts" not in page and "Section" in page for page in cleaned(build))


def test_a_heading_goes_with_all_that_is_below_it() -> None:
    pages = cleaned(lambda n: (f"# Pier {n}", own_text(n), "## Follow us", "- [Mastodon](/m)"))

    assert pages == [f"# Pier {n}\n\n{own_text(n)}\n\n" for n in NUMBERS]


@pytest.mark.parametrize(
    "prose",
    [
        "The harbour office answers for none of the times that are printed on these pages.",
        "港务局对这些网页上所列的任何时间概不负责。请在出海之前向办公室确认一次。",
        "لا يتحمل مكتب الميناء مسؤولية أي من الأوقات المطبوعة على هذه الصفحات.",
        "बंदरगाह कार्यालय इन पृष्ठों पर छपे किसी भी समय के लिए ज़िम्मेदार नहीं है।",
    ],
)
def test_prose_stays_on_one_page(prose: str) -> None:
    pages = cleaned(lambda n: (MENU, own_text(n), prose))

    assert [n for n, page in enumerate(pages) if prose in page] == [0]
    assert all("Berths" not in page for page in pages)


def test_the_page_that_keeps_prose_loses_the_furniture_around_it() -> None:
    prose = "The harbour office answers for none of the times that are printed here."
    [first, *_] = cleaned(lambda n: (own_text(n), FOOT, prose, "[Imprint](/imprint)"))

    assert first == f"{own_text(0)}\n\n{prose}\n\n"


# ---------------------------------------------------------------- what is not


@pytest.mark.parametrize(
    "shared",
    [
        "Every ship that enters has to announce itself on channel twelve beforehand.",
        "## Parameters",
        "- `--version`: print the version",
        "```\nimport harbour\n```",
        "| Berth | Price |\n| --- | --- |\n| A | 12 |",
        "In stock",
    ],
)
def test_what_repeats_inside_the_content_stays(shared: str) -> None:
    pages = cleaned(lambda n: (MENU, own_text(n), shared, own_text(n + 100), FOOT))

    assert pages == [f"{own_text(n)}\n\n{shared}\n\n{own_text(n + 100)}\n\n" for n in NUMBERS]


def test_a_heading_above_the_content_stays() -> None:
    pages = cleaned(lambda n: (MENU, "# Manual", "## Name", own_text(n)))

    assert pages == [f"## Name\n\n{own_text(n)}\n" for n in NUMBERS]


def test_an_entry_with_entries_below_it_that_stay_stays() -> None:
    def build(n: int) -> Sequence[str]:
        return f"- [Home](/)\n- [Piers](/piers)\n  - [{own_text(n)[5:8]}](/)\n{MENU}", own_text(n)

    assert all(page.startswith("- [Piers](/piers)\n  - [") for page in cleaned(build))


def test_a_paragraph_after_a_list_does_not_become_part_of_an_entry_that_stays() -> None:
    def build(n: int) -> Sequence[str]:
        return f"{MENU}\n- [{own_text(n)[5:8]}](/)\n- [Charts](/c)\n- [Imprint](/i)", own_text(n)

    assert cleaned(build) == [f"- [{own_text(n)[5:8]}](/)\n\n{own_text(n)}\n" for n in NUMBERS]


def test_few_pages_have_no_furniture() -> None:
    assert all(MENU in page for page in cleaned(lambda n: (MENU, own_text(n)), FEWEST_PAGES - 1))
    assert all("Home" not in page for page in cleaned(lambda n: (MENU, own_text(n)), FEWEST_PAGES))


def test_data_of_most_pages_stays() -> None:
    pages = cleaned(lambda n: (own_text(n), "In stock" if n % 5 else "Sold out", FOOT))

    assert sum("In stock" in page for page in pages) == 16
    assert all(FOOT not in page for page in pages)


def test_code_at_the_foot_of_all_pages_stays() -> None:
    code = "```sh\nmake install\n```"

    assert all(code in page for page in cleaned(lambda n: (own_text(n), code)))


def test_what_is_furniture_on_some_pages_and_content_on_others_stays() -> None:
    def build(n: int) -> Sequence[str]:
        option = "- [--version](/version)"
        return (own_text(n), option) if n % 2 else (own_text(n), option, own_text(n + 100))

    assert all("--version" in page for page in cleaned(build))


def test_a_page_that_says_it_once_more_than_the_others_keeps_that() -> None:
    note = "The harbour office answers for none of the times that are printed here."
    pages = cleaned(lambda n: (*([note] if n == 7 else []), own_text(n), note))

    assert pages[7] == f"{note}\n\n{own_text(7)}\n\n"


def test_the_page_that_lists_what_the_menu_lists_keeps_its_list() -> None:
    pages = cleaned(lambda n: (MENU, *([MENU] if n == 7 else []), own_text(n)))

    assert pages[7] == f"{MENU}\n\n{own_text(7)}\n"


@pytest.mark.parametrize("own", [(), ("# Pier",), ("Soon.",)])
def test_a_page_with_next_to_nothing_of_its_own_stays_whole(own: Sequence[str]) -> None:
    blocks = (MENU, *own, FOOT)
    pages = cleaned(lambda n: blocks if n == 7 else (MENU, own_text(n), FOOT))

    assert pages[7] == "\n\n".join(blocks) + "\n"


def test_known_furniture_stays_furniture_while_a_quarter_of_the_pages_has_it() -> None:
    def found(share: float, known: Sequence[str] = ()) -> dict[str, str]:
        texts = [f"{MENU}\n\n" if n < share * 40 else "" for n in range(40)]
        return decide(
            [read_page(f"/{n}", t + own_text(n)) for n, t in enumerate(texts)], known=known
        )

    known = list(found(1.0))
    assert known
    assert found(0.3) == {}
    assert list(found(0.3, known)) == known
    assert found(0.2, known) == {}


def test_only_web_pages_and_markdown_have_furniture() -> None:
    def build(n: int) -> str:
        return f"{MENU}\n\n{own_text(n)}"

    found = decide([read_page(f"/{n}", build(n)) for n in NUMBERS])
    page = Document(text=build(1), media_type="text/html", extractor="")
    paper = Document(text=build(1), media_type="application/pdf", extractor="")

    assert without_furniture(page, found, "/1").text == own_text(1)
    assert without_furniture(paper, found, "/1") == paper


# ---------------------------------------------------------------- whatever the text


@given(Markdown)
def test_the_blocks_are_the_whole_text(text: str) -> None:
    blocks = split_blocks(text)

    assert "".join(text[block.start : block.end] for block in blocks) == (text if blocks else "")
    assert blocks or not text.strip()


@given(st.lists(Markdown, min_size=FEWEST_PAGES, max_size=FEWEST_PAGES), Markdown, Markdown)
def test_what_is_left_out_can_be_put_back(own: list[str], head: str, tail: str) -> None:
    texts = {f"/{n}": f"{head}\n\n{text}\n\n{tail}" for n, text in enumerate(own)}
    found = decide([read_page(uri, text) for uri, text in texts.items()])

    for uri, text in texts.items():
        left, removed = leave_out(text, found, uri)
        assert put_back(left, removed) == text
        assert bool(left.strip()) == bool(text.strip())


@given(st.permutations(list(NUMBERS)))
def test_the_order_of_the_pages_does_not_matter(order: list[int]) -> None:
    prose = "The harbour office answers for none of the times that are printed here."
    pages = [read_page(f"/{n}", f"{MENU}\n\n{own_text(n)}\n\n{prose}") for n in order]

    assert decide(pages) == decide(sorted(pages, key=lambda page: page.uri))


@given(st.lists(st.sampled_from([MENU, FOOT, "# Piers", "---", "[Up](..)"]), max_size=4), st.data())
def test_paragraphs_of_one_page_are_never_left_out(shared: list[str], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(shared)))
    pages = cleaned(lambda n: (*shared[:cut], own_text(n), own_text(n + 100), *shared[cut:]), 9)

    for n, page in enumerate(pages):
        assert f"{own_text(n)}\n\n{own_text(n + 100)}" in page
