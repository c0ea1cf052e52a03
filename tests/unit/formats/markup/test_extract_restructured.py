"""reStructuredText of docutils and Sphinx: directives, fields, tables, substitutions."""

import io

import pytest

from ingest.formats import registry


def shown(text: str) -> list[str]:
    """Paragraphs of the extracted text, each on one line; `text` is written below a title."""
    document = registry.extract(io.BytesIO(f"Doc\n===\n\n{text}".encode()), name="a.rst")
    found = [" ".join(part.split()) for part in document.text.split("\n\n")]
    assert found[0] == "# Doc"
    return [part for part in found[1:] if part]


@pytest.mark.parametrize(
    ("text", "paragraphs"),
    [
        (".. py:function:: f(a, b=1)\n   :noindex:\n\n   Does it.\n\n   :param int a: the *a*\n"
         "   :raises OSError: if not\n   :returns: nothing\n",
         ["f(a, b=1)", "Does it.",
          "- a (int): the *a* - Raises OSError: if not - Returns: nothing"]),
        (".. class:: A(x)\n\n   Text.\n\n   .. method:: run()\n\n      Runs.\n",
         ["A(x)", "Text.", "run()", "Runs."]),
        (".. confval:: port\n   :type: int\n   :noindex:\n\n   The port.\n",
         ["port", "- Type: int", "The port."]),
        (".. versionchanged:: 3.2 Now faster.\n\n.. deprecated:: 4.0\n   Use x.\n",
         ["Changed in version 3.2: Now faster.", "Deprecated since version 4.0", "Use x."]),
        (".. only:: html\n\n   Text.\n\n.. rubric:: Notes\n\n.. topic:: About\n\n   It.\n",
         ["Text.", "**Notes**", "**About**", "It."]),
        (".. tabs::\n\n   .. tab:: Linux\n\n      apt\n\n.. grid:: 1 2\n   :gutter: 3\n\n"
         "   .. grid-item-card:: Card\n      :link: x\n\n      Body.\n",
         ["**Linux**", "apt", "Card", "Body."]),
        (".. module:: m\n   :synopsis: x\n\n.. index:: a, b\n\n.. raw:: latex\n\n   \\newpage\n\n"
         ".. raw:: html\n\n   <p>From <b>HTML</b></p>\n", ["From **HTML**"]),
        (".. doctest::\n\n   >>> 1\n   1\n", ["```python >>> 1 1 ```"]),
        (":Author: Ada\n:Since: 1.0\n\n:ref:`x <y>` begins it.\n",
         ["- Author: Ada - Since: 1.0", "x begins it."]),
        (".. |name| replace:: The\n   Product\n.. |logo| image:: x.png\n   :width: 3\n"
         "   :alt: Logo\n.. |x| unicode:: U+2192\n\n|logo| |name| 2 |x| 3 |version| ``|x|``\n",
         ["Logo The Product 2 → 3 |version| `|x|`"]),
        ("A [#]_ b [*]_ c [#d]_.\n\n.. [#] One.\n.. [*] Two\n   lines.\n.. [#d] Three.\n",
         ["A [^auto1] b [^sign1] c [^d].",
          "[^auto1]: One. [^sign1]: Two lines. [^d]: Three."]),
        ("..\n   Comment.\n\n..\n\n   Quote.\n", ["Quote."]),
        ("A `link\nover lines <https://x.org>`_ and :class:`A\n<b>` and \\*no\\* mark\\_up\n",
         ["A [link over lines](https://x.org) and A and *no* mark\\_up"]),
    ],
)  # fmt: skip
def test_directives_and_fields_show_what_readers_see(text: str, paragraphs: list[str]) -> None:
    assert shown(text) == paragraphs


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("+-----+-----------+\n| A   | B         |\n+=====+=====+=====+\n| 1   | c   | d   |\n"
         "|     +-----+-----+\n|     | e   | f   |\n+-----+-----+-----+\n",
         ["| A | B | B |", "| 1 | c | d |", "| 1 | e | f |"]),
        ("+------+------+\n| 名前 | 年齢 |\n+======+======+\n| 太郎 | 36   |\n+------+------+\n",
         ["| 名前 | 年齢 |", "| 太郎 | 36 |"]),
        ("=====  =====  ======\n   Inputs     Output\n------------  ------\n  A      B    A or B\n"
         "=====  =====  ======\nFalse  True   True\n=====  =====  ======\n",
         ["| Inputs | Inputs | Output |", "| A | B | A or B |", "| False | True | True |"]),
        (".. table:: Caption\n   :widths: auto\n\n   ===  ===\n   A    B\n   ===  ===\n   1    2\n"
         "   ===  ===\n", ["Caption", "| A | B |", "| 1 | 2 |"]),
        ('.. csv-table:: Prices\n   :header: "Item", "Price"\n\n   "Bolt, big", 2\n   Nut, 1\n',
         ["Prices", "| Item | Price |", "| Bolt, big | 2 |", "| Nut | 1 |"]),
        (".. csv-table::\n   :delim: ;\n\n   a; b\n   c; d\n", ["| a | b |", "| c | d |"]),
        (".. list-table::\n\n   * - A\n     - B\n   * - 1\n     - * x\n       * y\n",
         ["| A | B |", "| 1 | x * y |"]),
    ],
)  # fmt: skip
def test_tables_of_all_kinds_have_their_rows(text: str, rows: list[str]) -> None:
    document = registry.extract(io.BytesIO(text.encode()), name="a.rst")

    lines = [line.strip() for line in document.text.split("\n") if line.strip()]
    assert [line for line in lines if not line.startswith("|---")] == rows


def test_sources_of_sphinx_are_read_under_their_name_in_the_web() -> None:
    file = io.BytesIO(b"Ropes\n=====\n\nSee :ref:`the knots <knots>`.\n")
    document = registry.extract(file, name="_sources/ropes.rst.txt")

    assert (document.title, document.text.strip()) == ("Ropes", "# Ropes\n\nSee the knots.")


def test_a_title_may_be_longer_than_its_underline() -> None:
    document = registry.extract(io.BytesIO(b"A long title\n====\n\nText\n\nPart\n---\n\nx"),
                                name="a.rst")  # fmt: skip

    assert document.text.startswith("# A long title\n\nText\n\nPart\n---\n")


@pytest.mark.parametrize("piece", [
    "+-+\n", "+--+--+\n|a|\n", ".. a::\n", "|a|", ":f a: ", "`a <",
    ".. |a| replace:: b\n", "   :alt:\n", "== ==\n", "``a",
])  # fmt: skip
def test_it_is_read_in_linear_time(piece: str) -> None:
    assert registry.extract(io.BytesIO(b"x\n\n" + piece.encode() * 20_000), name="a.rst").text


def test_continued_lines_of_commands_stay_and_escaped_line_ends_join() -> None:
    text = "Doc\n===\n\nRun:\n\n    aws get \\\n        --id 1\n\nre\\\nstructured\n"
    found = registry.extract(io.BytesIO(text.encode()), name="a.rst").text
    assert "aws get \\\n        --id 1" in found
    assert "restructured" in found
