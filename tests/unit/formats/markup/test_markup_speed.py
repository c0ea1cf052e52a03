"""Markup is read in time that grows with its length."""

import io

import pytest

from ingest.formats import registry
from ingest.model import Document


def extract(text: str, name: str) -> Document:
    return registry.extract(io.BytesIO(text.encode()), name=name)


@pytest.mark.parametrize("name", ["a.rst", "a.adoc", "a.tex", "a.org", "a.srt", "a.md", "a.py"])
@pytest.mark.parametrize(
    "piece",
    [
        "=",
        "<!--",
        "`",
        "\\section{",
        "* ",
        "a\n=\n",
        "00:01,0 --> ",
        "\\title{a\n",
        "\\begin{tabular}\n",
        "$",
        "\\emph{",
        "{",
    ],
)
def test_markup_reading_is_linear(name: str, piece: str) -> None:
    assert extract("x\n" + piece * 20_000, name).text  # quadratic: minutes
