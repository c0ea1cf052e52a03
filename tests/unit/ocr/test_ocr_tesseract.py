"""The program tesseract: how it is called, and what is made of its table of words."""

import os
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from harness.patience import PATIENCE
from ingest.errors import Permanent
from ingest.model import OcrSettings
from ingest.providers.ocr import tesseract
from ingest.providers.ocr.languages import ordered
from ingest.providers.ocr.tesseract import Tesseract
from tests.servers.fake_tesseract import FakeTesseract, word
from tests.support.movable_clock import MovableClock

PICTURE = Image.new("L", (400, 300), 255)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeTesseract:
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return FakeTesseract(tmp_path)


def engine(*languages: str, seconds: float = 20) -> Tesseract:
    return Tesseract(OcrSettings(engine="tesseract", languages=languages, page_timeout=seconds))


def failure(of: Tesseract) -> Permanent:
    with pytest.raises(Permanent) as caught:
        of.read(PICTURE)
    return caught.value


def test_words_become_lines_and_paragraphs(fake: FakeTesseract) -> None:
    fake.answers(
        "1\t1\t0\t0\t0\t0\t0\t0\t400\t300\t-1\t\n"
        + word("Dear", (1, 1, 1), 0)
        + word("Sir,", (1, 1, 1), 40)
        + word("we", (1, 2, 1), 0)
        + word("write", (1, 2, 2), 0)
        + word('"quoted"', (2, 1, 1), 0)
    )

    assert engine("eng").read(PICTURE) == 'Dear Sir,\n\nwe\nwrite\n\n"quoted"'


def test_words_of_a_table_row_are_known_by_their_gaps(fake: FakeTesseract) -> None:
    rows = [
        word(name, (1, 1, line), 0) + word(price, (1, 1, line), 300)
        for line, (name, price) in enumerate([("apples", "12.00"), ("pears", "9.00")], start=1)
    ]
    fake.answers("".join(rows))

    assert engine("eng").read(PICTURE) == "apples 12.00\npears 9.00"


def test_words_keep_their_places_whatever_size_the_program_got(fake: FakeTesseract) -> None:
    fake.answers(word("Dear", (1, 1, 1), 0) + word("Sir,", (1, 1, 1), 600))

    found = engine("eng").recognise(PICTURE)  # which it got three times as large

    first, second = found.words
    assert (first.text, second.text) == ("Dear", "Sir,")
    assert first.box == pytest.approx((0, 20 / 900, 32 / 1200, 30 / 900))
    assert second.box == pytest.approx((0.5, 20 / 900, 632 / 1200, 30 / 900))


def test_low_confidence_words_are_dropped(fake: FakeTesseract) -> None:
    fake.answers(word("yoirwt", (1, 1, 1), 0, confidence=21) + word(" ", (1, 1, 2), 0))

    assert engine("eng").read(PICTURE) == ""


def test_tesseract_gets_a_grey_picture_of_suitable_size(fake: FakeTesseract) -> None:
    engine("eng").read(PICTURE.convert("RGB"))

    with Image.open(fake.folder / "picture.png") as seen:
        assert (seen.mode, seen.size) == ("L", (1200, 900))


def test_tesseract_gets_languages_and_orientation_detection(fake: FakeTesseract) -> None:
    engine("deu", "eng").read(PICTURE)

    assert fake.got("arguments").startswith("- - -l deu+eng --psm 1 ")


def test_without_data_for_orientation_it_is_not_asked_for_it(
    fake: FakeTesseract, tmp_path: Path
) -> None:
    FakeTesseract(tmp_path, languages=["eng"])

    engine().read(PICTURE)

    assert fake.got("arguments").startswith("- - -l eng --psm 3 ")


def test_tesseract_environment_has_one_thread_and_no_secrets(
    fake: FakeTesseract, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("TESSDATA_PREFIX", "/data")

    engine("eng").read(PICTURE)

    environment = fake.got("environment").splitlines()
    assert "OMP_THREAD_LIMIT=1" in environment
    assert "TESSDATA_PREFIX=/data" in environment
    assert not any("secret" in line for line in environment)


def test_a_picture_that_takes_too_long_is_given_up(fake: FakeTesseract) -> None:
    fake.answers("", seconds=3)

    assert failure(engine("eng", seconds=0.2)).code == "parser_timeout"


def test_tesseract_failure_is_not_an_empty_page(fake: FakeTesseract) -> None:
    fake.answers("", code=1)

    assert failure(engine("eng")).code == "parser_crashed"


def test_tesseract_name_has_version_and_languages(fake: FakeTesseract) -> None:
    assert engine("deu", "eng").name == "tesseract 9.9.9 deu+eng"


def test_the_most_common_languages_come_first() -> None:
    assert ordered(["afr", "deu", "eng", "osd", "equ", "script/Latin"]) == ("eng", "deu", "afr")
    assert ordered(["afr", "jpn", "fra", "kor"]) == ("fra", "jpn", "kor", "afr")


MANY = ("deu", "ell", "eng", "fra", "osd", "pol", "rus", "spa", "ukr")
NOISE = word("MOMeHTa", (1, 1, 1), 0, confidence=41) + word("ero", (1, 1, 1), 90, confidence=38)


def line(text: str, *, confidence: float) -> str:
    places = [8 * text.index(piece) for piece in text.split()]
    return "".join(
        word(piece, (1, 1, 1), left, confidence=confidence)
        for piece, left in zip(text.split(), places, strict=True)
    )


@pytest.fixture
def many(fake: FakeTesseract, tmp_path: Path) -> FakeTesseract:
    there = FakeTesseract(tmp_path, languages=MANY)
    there.answers(NOISE)
    return there


def test_page_that_the_usual_languages_do_not_read_is_read_script_by_script(
    many: FakeTesseract,
) -> None:
    many.knows("rus+ukr", line("Договор вступает в силу", confidence=95))

    assert engine().read(PICTURE) == "Договор вступает в силу"
    assert many.got("asked").split() == ["eng+deu+fra+spa", "rus+ukr"]


def test_page_that_no_language_reads_has_no_text(many: FakeTesseract) -> None:
    assert engine().read(PICTURE) == ""
    assert many.got("asked").split() == ["eng+deu+fra+spa", "rus+ukr", "ell", "pol"]


def test_page_is_read_again_in_its_own_language_if_that_is_installed(many: FakeTesseract) -> None:
    plain = "Kazdy pracownik powinien zglosic usterke w ciagu dwoch tygodni"
    many.answers(line(plain, confidence=78))
    many.knows("pol", line("Każdy pracownik powinien zgłosić usterkę", confidence=95))

    assert engine().read(PICTURE) == "Każdy pracownik powinien zgłosić usterkę"
    assert many.got("asked").split() == ["eng+deu+fra+spa", "pol"]


def test_page_that_is_read_well_is_read_once(many: FakeTesseract) -> None:
    many.answers(line("Each of them may end the contract", confidence=96))

    assert engine().read(PICTURE) == "Each of them may end the contract"
    assert many.got("asked").split() == ["eng+deu+fra+spa"]


def test_only_chosen_languages_are_tried(many: FakeTesseract) -> None:
    engine("deu").read(PICTURE)

    assert many.got("asked").split() == ["deu"]


def test_further_languages_share_the_time_of_a_page(
    many: FakeTesseract, movable_clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    movable_clock.stop()
    run, allowed = tesseract._run, []

    def slow(*arguments: str, seconds: float, **options: Any) -> Any:
        done = run(*arguments, seconds=PATIENCE, **options)
        if "data" in options:
            allowed.append(seconds)
            movable_clock.forward(12)
        return done

    many.answers(NOISE)
    monkeypatch.setattr(tesseract, "_run", slow)

    assert engine(seconds=20).read(PICTURE) == ""
    assert allowed == [pytest.approx(20), pytest.approx(8)]
