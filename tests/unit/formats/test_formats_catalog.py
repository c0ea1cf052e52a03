"""Formats declare themselves: detection, reading and the documentation follow from it."""

from collections import Counter
from importlib import import_module
from io import BytesIO
from pathlib import Path

import pytest

from ingest.formats import catalog
from ingest.formats.declaration import Format
from ingest.formats.detect.sniff import sniff
from ingest.formats.registry import extract
from tests.format_table import format_table

ROOT = Path(__file__).parents[3]
FORMATS = catalog.formats()


def media_type(declared: Format) -> str:
    return declared.media_type


def test_each_media_type_is_declared_once() -> None:
    assert [kind for kind, count in Counter(map(media_type, FORMATS)).items() if count > 1] == []


def test_each_ending_and_alias_belongs_to_one_format() -> None:
    names = Counter(
        name for declared in FORMATS for name in (*declared.suffixes.split(), *declared.aliases)
    )

    assert [name for name, count in names.items() if count > 1] == []


def test_every_family_with_a_package_is_found() -> None:
    families = {path.parent.name for path in ROOT.glob("ingest/formats/*/declaration.py")}

    assert {"pdf", "html", "word", "sheets", "mail", "epub"} <= families
    assert {declared.reader.split(".")[2] for declared in FORMATS if declared.reader} <= {
        *families,
        "flat_office",
    }


@pytest.mark.parametrize("declared", FORMATS, ids=media_type)
def test_a_format_has_a_reader_or_holds_other_files(declared: Format) -> None:
    assert (declared.reader is None) == (declared.is_archive or declared.is_compressed)
    if declared.reader is not None:
        assert callable(import_module(declared.reader).extract)


@pytest.mark.parametrize("declared", FORMATS, ids=media_type)
def test_related_formats_name_each_other(declared: Format) -> None:
    for other in declared.related:
        found = catalog.find(other)
        assert found is not None
        assert declared.media_type in found.related


def test_a_new_text_format_needs_its_declaration_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """What CONTRIBUTING.md promises: no other file names the format."""
    new = Format(
        media_type="text/x-minutes",
        label="minutes of a meeting",
        suffixes=".minutes",
        reader="ingest.formats.text.plain",
        is_text=True,
    )
    from ingest.formats.text import declaration

    monkeypatch.setattr(declaration, "FORMATS", (*declaration.FORMATS, new))
    catalog.forget()
    try:
        found = sniff(BytesIO(b"Present: Ada"), name="a.minutes")
        document = extract(BytesIO(b"Present: Ada"), name="a.minutes")
    finally:
        monkeypatch.undo()
        catalog.forget()

    assert found.media_type == "text/x-minutes"
    assert document.text == "Present: Ada"
    assert catalog.find("text/x-minutes") is None


def test_the_documentation_has_the_table_of_declared_formats() -> None:
    assert format_table() in (ROOT / "docs/formats.md").read_text()
