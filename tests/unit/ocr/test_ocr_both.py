"""RapidOCR reads first; tesseract reads what it cannot."""

from collections.abc import Sequence

import pytest
from PIL import Image

from ingest.errors import Permanent
from ingest.model import OcrSettings
from ingest.providers.ocr.both import Both
from ingest.providers.ocr.lines import OcrLine, OcrParagraph
from ingest.providers.ocr.rapid import RapidOcr
from ingest.providers.ocr.tesseract import Tesseract

PAGE = Image.new("L", (400, 300), 255)
RUSSIAN, SCRAPS = "Настоящий договор вступает", "ak n"
VIETNAMESE = "Hop dong nay co hieu luc ke tu ngay ky. Moi nhan vien phai bao cao hu hong"
ACCENTED = "Hợp đồng này có hiệu lực kể từ ngày ký"


def page(text: str, confidence: float = 95) -> list[OcrParagraph]:
    line = OcrLine(text=text, confidence=confidence, left=0, top=0, right=400, bottom=20)
    return [[line]] if text else []


class Stage:
    """Both engines say what they are told to, and what tesseract was asked for is noted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rapid: list[OcrParagraph] = []
        self.tesseract: list[OcrParagraph] | Permanent = []
        self.asked: list[tuple[str, ...]] = []
        monkeypatch.setattr(RapidOcr, "_paragraphs", lambda *_: self.rapid)
        monkeypatch.setattr(Tesseract, "paragraphs_in", self._answer)

    def _answer(
        self, image: Image.Image, languages: Sequence[str], seconds: float
    ) -> list[OcrParagraph]:
        assert 0 < seconds <= 20
        self.asked.append(tuple(languages))
        if isinstance(self.tesseract, Permanent):
            raise self.tesseract
        return self.tesseract

    def read(self, *languages: str) -> str:
        settings = OcrSettings(
            engine="rapidocr+tesseract", languages=languages or ("eng", "rus"), page_timeout=20
        )
        return Both(settings).read(PAGE)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(monkeypatch)


def test_what_rapidocr_reads_well_is_not_read_again(stage: Stage) -> None:
    stage.rapid = page("Größere Schäden müssen gemeldet werden")

    assert stage.read() == "Größere Schäden müssen gemeldet werden"
    assert stage.asked == []


@pytest.mark.parametrize("scraps", ["", SCRAPS])
def test_page_in_another_script_is_read_by_tesseract(stage: Stage, scraps: str) -> None:
    stage.rapid, stage.tesseract = page(scraps), page(RUSSIAN)

    assert stage.read() == RUSSIAN
    assert stage.asked == [()]


def test_better_of_two_doubtful_readings_is_kept(stage: Stage) -> None:
    stage.rapid, stage.tesseract = page("a worn old letter", 70), page("4 w0rn o1d 1ett3r", 55)

    assert stage.read() == "a worn old letter"


def test_failure_of_the_second_engine_does_not_cost_the_first_reading(stage: Stage) -> None:
    stage.rapid = page("a worn old letter", 70)
    stage.tesseract = Permanent("too slow", code="parser_timeout")

    assert stage.read() == "a worn old letter"


def test_language_whose_accents_rapidocr_lacks_is_read_by_tesseract(stage: Stage) -> None:
    stage.rapid, stage.tesseract = page(VIETNAMESE), page(ACCENTED)

    assert stage.read("eng", "vie") == ACCENTED
    assert stage.asked == [("vie",)]
    assert stage.read("eng", "rus") == VIETNAMESE
