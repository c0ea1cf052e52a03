"""Jupyter notebooks: cells, outputs, versions."""

import io
import json
from typing import Any

from ingest.formats.registry import extract as extract_file
from ingest.model import Document


def extract(book: dict[str, Any] | str) -> Document:
    text = book if isinstance(book, str) else json.dumps(book)
    return extract_file(io.BytesIO(text.encode()), name="a.ipynb")


def notebook(*cells: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": list(cells)}


def code(source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def test_cells_come_in_order_with_code_in_fences_of_their_language() -> None:
    document = extract(
        notebook(
            {"cell_type": "markdown", "source": ["# The title\n", "Some *words*."]},
            code("print(1)", {"output_type": "stream", "text": ["1\n"]}),
            kernelspec={"language": "python"},
        )
    )

    assert document.text == (
        "# The title\nSome *words*.\n\n```python\nprint(1)\n```\n\n```\n1\n```"
    )
    assert document.title == "The title"
    assert document.metadata == {"language": "python"}


def test_code_containing_a_fence_gets_a_longer_fence() -> None:
    assert extract(notebook(code("'''\n```\nx\n```\n'''"))).text.startswith("````\n")


def test_long_outputs_are_cut_and_say_so() -> None:
    output = {"output_type": "stream", "text": "x" * 5000}

    assert "1000 more characters" in extract(notebook(code("1", output))).text


def test_errors_keep_their_message_without_terminal_colours() -> None:
    error = {"output_type": "error", "ename": "ValueError", "evalue": "\x1b[31mtoo big\x1b[0m"}

    assert "ValueError: too big" in extract(notebook(code("f()", error))).text


def test_pictures_are_named_as_not_read() -> None:
    picture = {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": "<Fig>"}}

    document = extract(notebook(code("plot()", picture)))

    assert "<Fig>" in document.text
    assert "AAAA" not in document.text
    assert document.metadata["notRead"] == {"image/png": 1}


def test_raw_cells_are_text() -> None:
    assert extract(notebook({"cell_type": "raw", "source": "# raw"})).text == "\\# raw"


def test_notebooks_of_version_3_are_read() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Old"},
        {"cell_type": "code", "input": "1 + 1", "outputs": []},
    ]

    document = extract({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": cells}]})

    assert document.text == "## Old\n\n```\n1 + 1\n```"


def test_a_stated_title_counts_more_than_a_heading() -> None:
    book = notebook({"cell_type": "markdown", "source": "# First"}, title="Stated")

    assert extract(book).title == "Stated"


def test_invalid_notebook_is_read_as_text() -> None:
    document = extract('{"nbformat": 4, "cells": [{"cell_type": "markdown", "source": "words')

    assert "words" in document.text
    assert document.warnings == ("invalid_json",)


def test_fields_of_the_wrong_type_are_ignored() -> None:
    cells: list[Any] = [1, None, {"cell_type": "code", "source": {}, "outputs": {"a": 1}}, "x"]

    assert extract({"nbformat": 4, "metadata": [], "cells": [*cells, code("ok()")]}).text == (
        "```\nok()\n```"
    )


def test_tables_of_data_frames_are_tables() -> None:
    frame = (
        "<div><style scoped>.dataframe td {color: red}</style><table class='dataframe'><thead><tr>"
        "<th></th><th>name</th><th>age</th></tr></thead><tbody><tr><th>0</th><td>Ada</td>"
        "<td>36</td></tr></tbody></table><p>1 rows \u00d7 2 columns</p></div>"
    )
    output = {
        "output_type": "execute_result",
        "data": {"text/html": [frame], "text/plain": ["  name  age\n", "0  Ada   36"]},
    }

    text = extract(notebook(code("frame", output))).text

    assert (
        "|  | name | age |\n| --- | --- | --- |\n| 0 | Ada | 36 |\n\n1 rows \u00d7 2 columns"
        in text
    )
    assert "0  Ada" not in text
    assert "color" not in text


def test_names_of_drawn_objects_are_left_out() -> None:
    outputs = [
        {"output_type": "display_data", "data": {"text/plain": [shown], "image/png": "AA=="}}
        for shown in ("<Figure size 640x480 with 1 Axes>", "<matplotlib.legend.Legend at 0x7f01>",
                      "<b> stays")
    ]  # fmt: skip

    text = extract(notebook(code("plot()", *outputs))).text

    assert text == "```\nplot()\n```\n\n```\n<b> stays\n```"
