"""Which engine reads pictures: named, or the best that there is."""

import sys
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import SetupError
from ingest.model import OcrSettings
from ingest.providers.ocr import rapid
from ingest.providers.ocr.both import Both
from ingest.providers.ocr.factory import available, build_recogniser, choose
from ingest.settings.settings import Settings
from tests.servers.fake_tesseract import FakeTesseract


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    for name in ("INGEST_OCR", "INGEST_OCR_LANGUAGES", "INGEST_OCR_PAGE_TIMEOUT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeTesseract:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return FakeTesseract(tmp_path, languages=("deu", "eng", "osd"))


@pytest.fixture
def without_rapid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, rapid.PACKAGE, None)


def chosen(**values: Any) -> OcrSettings | None:
    return choose(Settings(**values))


def refusal(**values: Any) -> str:
    with pytest.raises(SetupError) as caught:
        chosen(**values)
    return str(caught.value)


@pytest.mark.usefixtures("tesseract")
def test_both_engines_are_used_where_both_are_installed() -> None:
    both = chosen()

    assert both == OcrSettings(engine="rapidocr+tesseract", languages=("eng", "deu"))
    assert isinstance(build_recogniser(both), Both)


@pytest.mark.usefixtures("tesseract", "without_rapid")
def test_tesseract_alone_has_all_its_languages() -> None:
    assert chosen() == OcrSettings(engine="tesseract", languages=("eng", "deu"))


def test_without_tesseract_the_engine_of_the_extra_is_used() -> None:
    assert chosen() == OcrSettings(engine="rapidocr")


@pytest.mark.usefixtures("without_rapid")
def test_without_ocr_engine_pictures_are_not_read() -> None:
    assert chosen() is None


def test_tesseract_without_languages_is_not_used(tesseract: FakeTesseract) -> None:
    FakeTesseract(tesseract.folder, languages=("osd",))

    assert chosen() == OcrSettings(engine="rapidocr")
    assert refusal(ocr="tesseract").startswith("INGEST_OCR: ")


@pytest.mark.usefixtures("tesseract")
def test_ocr_off_disables_ocr() -> None:
    assert chosen(ocr="off") is None


@pytest.mark.usefixtures("tesseract")
def test_configured_ocr_engine_is_used() -> None:
    named = chosen(ocr="rapidocr")

    assert named == OcrSettings(engine="rapidocr")
    assert isinstance(build_recogniser(named), rapid.RapidOcr)


@pytest.mark.usefixtures("tesseract")
def test_configured_ocr_languages_are_used() -> None:
    assert chosen(ocr_languages=("deu",)) == OcrSettings(engine="tesseract", languages=("deu",))


@pytest.mark.usefixtures("tesseract")
def test_a_language_without_data_stops_the_start() -> None:
    message = refusal(ocr_languages=("deu", "fra"))

    assert message == ("INGEST_OCR_LANGUAGES: tesseract has no data for fra; it has deu, eng, osd")


def test_languages_need_tesseract() -> None:
    assert refusal(ocr_languages=("deu",)).startswith("INGEST_OCR_LANGUAGES: ")


@pytest.mark.usefixtures("without_rapid")
@pytest.mark.parametrize("engine", ["tesseract", "rapidocr"])
def test_configured_but_missing_ocr_engine_raises_setup_error(engine: str) -> None:
    assert refusal(ocr=engine).startswith("INGEST_OCR: ")


def test_configured_but_broken_tesseract_raises_setup_error(tesseract: FakeTesseract) -> None:
    (tesseract.folder / "tesseract").write_text("#!/bin/sh\nexit 1\n")

    assert refusal(ocr="tesseract").startswith("INGEST_OCR: tesseract cannot be used")


@pytest.mark.usefixtures("tesseract")
def test_ocr_engine_has_a_display_name() -> None:
    assert available(chosen(ocr="tesseract")) == "tesseract 9.9.9 eng+deu"
    assert available(chosen()) == f"{rapid.version()}, tesseract 9.9.9 eng+deu"
    assert available(chosen(ocr="off")) is None


@pytest.mark.parametrize(
    ("value", "names"),
    [("deu,eng", ("deu", "eng")), ("chi_sim+eng", ("chi_sim", "eng")), (" deu , ", ("deu",))],
)
def test_languages_are_separated_as_in_tesseract_or_as_elsewhere(
    monkeypatch: pytest.MonkeyPatch, value: str, names: tuple[str, ...]
) -> None:
    monkeypatch.setenv("INGEST_OCR_LANGUAGES", value)

    assert Settings().ocr_languages == names
