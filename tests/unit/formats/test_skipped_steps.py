"""A skipped step: what is said of it, and which errors are none."""

import io
import re
from collections.abc import Callable
from typing import Any

import pytest

from ingest import optional_steps as steps
from ingest.errors import Permanent, Transient
from ingest.formats import registry
from ingest.formats.common.input_file import Recogniser
from ingest.model import Document
from ingest.optional_steps import attempt, recording
from ingest.page_words import Recognised
from tests.builders.rich_files import rich_files

_ARCHIVES = (".zip", ".tar", ".tgz")
FILES = {name: data for name, data in rich_files().items() if not name.endswith(_ARCHIVES)}


class Picture(Recogniser):
    """Text recognition that finds some words."""

    name = "fake 1"

    def recognise(self, image: object) -> Recognised:
        return Recognised("Words in a picture")


def read(name: str) -> Document:
    return registry.extract(io.BytesIO(FILES[name]), name=name, ocr=Picture())


def raising(error: type[BaseException]) -> Callable[..., Any]:
    def fails(*_: object, **__: object) -> Any:
        raise error("text of the document")

    return fails


@pytest.mark.parametrize(
    "error",
    [
        Permanent("locked", code="encrypted"),
        Permanent("late", code="parser_timeout"),
        Transient("later", code="internal"),
        MemoryError(),
        KeyboardInterrupt(),
        SystemExit(1),
    ],
    ids=lambda error: str(getattr(error, "code", type(error).__name__)),
)
def test_foreign_exceptions_pass_through_optional_steps(error: BaseException) -> None:
    def fails() -> str:
        raise error

    with recording() as skipped, pytest.raises(type(error)) as raised:
        steps.improve("headings", fails, otherwise=str)

    assert raised.value is error
    assert skipped.found() == ()


def test_permanent_error_in_a_step_fails_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object) -> None:
        raise Permanent("too much", code="too_large")

    monkeypatch.setattr("ingest.formats.pdf.document.mark_headings", refuses)

    with pytest.raises(Permanent) as raised:
        read("rich.pdf")

    assert raised.value.code == "too_large"


def test_missing_engine_skips_only_its_own_step() -> None:
    class Gone(Recogniser):
        @property
        def name(self) -> str:
            raise FileNotFoundError("tesseract")

        def recognise(self, image: object) -> Recognised:
            raise FileNotFoundError("tesseract")

    data = FILES["a.pdf"]  # its last page is a picture
    document = registry.extract(io.BytesIO(data), name="a.pdf", ocr=Gone())

    assert "First page" in document.text
    assert "ocr_skipped" in document.warnings


def test_skipped_step_cause_names_the_place_and_no_content() -> None:
    with recording() as skipped:
        for _ in range(3):
            attempt("headings", raising(ValueError))

    (found,) = skipped.found()
    assert found.times == 3
    assert re.fullmatch(r"ValueError at [\w.]+:\d+ > test_skipped_steps.py:\d+", found.cause)


def test_a_missing_module_is_named() -> None:
    with recording() as skipped:
        attempt("vertical", lambda: __import__("no_such_module"))

    assert "ModuleNotFoundError (no_such_module)" in skipped.found()[0].cause


def test_without_a_recording_a_skipped_step_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert steps.improve("title", raising(IndexError), otherwise=lambda: "kept") == "kept"

    assert "step title skipped: IndexError at" in caplog.text


def test_nested_recordings_report_to_the_outer_one() -> None:
    with recording() as outer:
        with recording():
            attempt("title", raising(IndexError))
        attempt("title", raising(ValueError))

    (found,) = outer.found()
    assert (found.times, found.cause.split()[0]) == (2, "IndexError")
