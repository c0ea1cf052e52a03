from textwrap import dedent

from ingest.chunking.structure import Block, heading_paths
from ingest.chunking.structure_reader import read_structure


def titles(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in read_structure(text).headings]


def blocks(text: str) -> list[str]:
    return [text[block.start : block.end] for block in read_structure(text).blocks]


def test_headings_are_atx_or_underlined() -> None:
    text = "# One #\n\nTwo\n===\n\nThree\n---\n   #### C#\n#no\n"

    assert titles(text) == [(1, "One"), (1, "Two"), (2, "Three"), (4, "C#")]


def test_fenced_code_has_no_headings() -> None:
    text = "````sh\n# comment\n```\nTitle\n===\n````\n# real\n~~~\n# open to the end"

    assert titles(text) == [(1, "real")]


def test_rule_below_a_paragraph_is_not_a_heading() -> None:
    assert titles("---\ntitle: x\ntags: y\n---\n\nsome\nlines\n---\n") == []


def test_a_heading_ends_with_its_underline() -> None:
    text = "Title\n=====\ntext"

    [heading] = read_structure(text).headings

    assert text[heading.start : heading.end] == "Title\n====="


def test_a_title_of_five_megabytes_is_cut() -> None:
    [(_, title)] = titles("# " + "x" * 5_000_000)

    assert title == "x" * 200


def test_tables_lists_and_code_are_blocks() -> None:
    text = dedent("""\
        text
        | a | b |
        |---|---|
        - one
        - two
          more
        1. three

        ```
        x

        y
        ```
        text
        """)

    assert blocks(text) == [
        "| a | b |\n|---|---|\n",
        "- one\n- two\n  more\n1. three\n",
        "```\nx\n\ny\n```\n",
    ]


def test_a_cut_inside_a_block_finds_the_block() -> None:
    structure = read_structure("text\n- a\n- b\n\nend")

    assert structure.block_around(5) is None
    assert structure.block_around(9) == Block(kind="list", start=5, end=13)
    assert structure.block_around(13) is None


def test_paths_go_from_the_outermost_heading_down() -> None:
    headings = read_structure("# A\n## B\n### C\n## D\n#\n### E\n").headings

    assert heading_paths(headings) == [
        ("A",),
        ("A", "B"),
        ("A", "B", "C"),
        ("A", "D"),
        (),
        ("E",),
    ]


def test_lookalike_headings_are_ignored() -> None:
    assert titles("Best regards\n-- \nAda\n") == []
    assert titles("    code\n---\n") == []
    assert titles("word " * 50 + "\n---\n") == []
    assert titles("---\ntitle: x\n---\n\n# Real\n") == [(1, "Real")]
    assert titles("...\n---\n * * .\n=====\n\n# -----\n\n## #####\n") == []


def test_hash_lines_one_below_the_other_are_comments() -> None:
    assert titles("x\n\n# Licensed to you under\n#\n# a licence.\n\ny\n") == []
    assert titles("  # all\n  # rights\n# reserved\n---\n") == []
    assert titles("# One\n## Two\n\n# Three\n\n# Four\n") == [
        (1, "One"), (2, "Two"), (1, "Three"), (1, "Four")
    ]  # fmt: skip
    assert titles("## Open\n## Closed\n# Next\n") == [(2, "Open"), (2, "Closed"), (1, "Next")]


def test_comments_and_preformatted_text_have_no_headings() -> None:
    text = "<!-- a\n# no\n-->\n# One\n<pre>\n# no\n</pre>\n<!-- # no -->\n# Two\n"

    assert titles(text) == [(1, "One"), (1, "Two")]


def test_a_span_of_code_with_three_backticks_opens_no_fence() -> None:
    assert titles("```x``` is code\n\n# Real\n") == [(1, "Real")]


def test_rules_of_stars_and_dashes_are_not_list_items() -> None:
    assert blocks("* * *\n\n- - -\n\n_ _ _\n") == []


def test_number_at_the_start_of_a_wrapped_line_is_not_a_list_item() -> None:
    assert blocks("It was written in\n1984. It was read in\n- dashed words\n") == [
        "- dashed words\n"
    ]
    assert blocks("Steps:\n1. one\n2. two\n") == ["1. one\n2. two\n"]


def test_list_continues_after_a_blank_line_with_items_and_indented_text() -> None:
    text = "- one\n\n- two\n\n  more\n\ntext\n\n- new"

    assert blocks(text) == ["- one\n\n- two\n\n  more\n", "- new"]


def test_a_table_needs_no_outer_bars_but_a_line_under_its_header() -> None:
    text = "text\na | b\n--|--\n1 | 2\n3 | 4\nend\n\nno | table\n\nneither | this\n--|--|--\n"

    [table] = read_structure(text).blocks

    assert text[table.start : table.end] == "a | b\n--|--\n1 | 2\n3 | 4\n"
    assert table.repeated_header
    assert text[slice(*table.repeated_header)] == "a | b\n--|--\n"


def test_units_are_found_from_the_row_out_to_the_block() -> None:
    text = "- a\n  - b\n    - c\n- d\n"

    units = list(read_structure(text).units_around(text.index("b")))

    assert [text[start:end] for start, end in units] == [
        "  - b\n",
        "  - b\n    - c\n",
        "- a\n  - b\n    - c\n",
        text,
    ]
