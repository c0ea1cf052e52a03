"""Chooses the OCR engine from the settings, and builds it in the parser processes.

The main process chooses once, at start.
"""

import contextlib
import functools
import shutil
import subprocess
from dataclasses import replace

from ingest.errors import SetupError
from ingest.model import OcrSettings
from ingest.providers.ocr import rapid, tesseract
from ingest.providers.ocr.base import Engine
from ingest.providers.ocr.both import BOTH, Both
from ingest.providers.ocr.languages import ordered
from ingest.settings.settings import Settings


def choose(settings: Settings) -> OcrSettings | None:
    """Choose the OCR settings; None: no OCR. Runs tesseract to list its languages.

    Raises SetupError if a configured engine or language is not installed.
    """
    if settings.ocr == "tesseract" or (settings.ocr == "auto" and settings.ocr_languages):
        return _tesseract(settings)
    if settings.ocr == "auto" and shutil.which(tesseract.PROGRAM):
        with contextlib.suppress(SetupError):  # tesseract without language data is useless
            found = _tesseract(settings)
            return replace(found, engine=BOTH) if rapid.is_installed() else found
    if settings.ocr != "off" and rapid.is_installed():
        return _ocr_settings(settings, rapid.PACKAGE, ())
    if settings.ocr == rapid.PACKAGE:
        raise SetupError(
            "INGEST_OCR: rapidocr comes with the extra `ocr`, which is not installed:"
            " pip install 'rag-ingest[ocr]'"
        )
    return None


def available(settings: OcrSettings | None) -> str | None:
    """The engine's name for display: `tesseract 5.3.0 eng+deu`; None without OCR."""
    return None if settings is None else build_recogniser(settings).name


@functools.cache
def build_recogniser(settings: OcrSettings) -> Engine:
    """Build the engine, which loads its models when it reads the first picture."""
    if settings.engine == tesseract.PROGRAM:
        return tesseract.Tesseract(settings)
    return Both(settings) if settings.engine == BOTH else rapid.RapidOcr(settings)


def _tesseract(settings: Settings) -> OcrSettings:
    if shutil.which(tesseract.PROGRAM) is None:
        name = "INGEST_OCR" if settings.ocr == tesseract.PROGRAM else "INGEST_OCR_LANGUAGES"
        raise SetupError(f"{name}: `tesseract` was not found on the PATH")
    try:
        installed = tesseract.installed_languages()
    except (OSError, subprocess.SubprocessError) as error:
        raise SetupError(f"INGEST_OCR: tesseract cannot be used: {error}") from None
    languages = settings.ocr_languages or ordered(installed)
    if not languages:
        raise SetupError("INGEST_OCR: tesseract has no data for any language")
    if missing := [name for name in languages if name not in installed]:
        raise SetupError(
            f"INGEST_OCR_LANGUAGES: tesseract has no data for {', '.join(missing)};"
            f" it has {', '.join(installed)}"
        )
    return _ocr_settings(settings, tesseract.PROGRAM, languages)


def _ocr_settings(settings: Settings, engine: str, languages: tuple[str, ...]) -> OcrSettings:
    seconds = settings.ocr_page_timeout.total_seconds()
    return OcrSettings(engine=engine, languages=languages, page_timeout=seconds)
