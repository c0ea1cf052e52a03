"""What a passage is about: what is indexed with it, and embedded in front of it."""

from typing import Any

import pytest

from ingest.analysis.subject import Subject, context_line, title_and_path
from ingest.model import Document


def subject(uri: str, *, title: str | None = None, name: str | None = None) -> Subject:
    return Subject(title=title, uri=uri, name=name, language=None)


@pytest.mark.parametrize(
    ("about", "headings", "line"),
    [
        (subject("a/b.md", title="Pumps"), ("Pumps", "Heron pump"), "Pumps > Heron pump"),
        (subject("manuals/Heron_pump/oil.txt"), (), "manuals / Heron pump / oil"),
        (subject("cran.all.1400/17.txt"), (), ""),
        (subject("scan0012.pdf"), ("Oil",), "Oil"),
        (subject("scan0012.pdf", name="Heron manual.pdf"), (), "Heron manual"),
        (subject("x/oil.txt", name="oil.txt"), (), "oil"),
        (subject("https://example.org/caf%C3%A9/oil?v=1"), (), "café / oil"),
    ],
)
def test_context_line(about: Subject, headings: tuple[str, ...], line: str) -> None:
    assert context_line(about, headings) == line


def test_a_long_context_keeps_its_beginning_and_its_innermost_heading() -> None:
    line = context_line(subject("a", title="Title"), (*["heading " * 10] * 9, "innermost"))

    assert len(line) <= 200
    assert line.startswith("Title > ")
    assert line.endswith("innermost")


def test_only_words_of_the_path_that_the_title_lacks_are_indexed() -> None:
    about = subject("manuals/heron-pump/x1.txt", title="The Heron Pump")

    assert title_and_path(about) == "The Heron Pump manuals x1.txt"


def test_the_author_or_sender_is_indexed_but_not_embedded() -> None:
    def of(**metadata: Any) -> Subject:
        document = Document(
            text="x", media_type="text/plain", extractor="text", title="Pumps", metadata=metadata
        )
        return Subject.of(document, "inbox/1.eml")

    sent = of(**{"from": "Ada Novak <ada@pumps.example>"})
    assert title_and_path(sent) == "Pumps inbox 1.eml Ada Novak <ada@pumps.example>"
    assert title_and_path(of(author=["Ada", "Bo"])) == "Pumps inbox 1.eml ['Ada', 'Bo']"
    assert title_and_path(of(author=None)) == "Pumps inbox 1.eml"
    assert context_line(sent, ()) == "Pumps"
