"""RapidOCR for what its models read, tesseract for other scripts and for what they read badly.

In Latin letters and Chinese, RapidOCR misreads fewer words than tesseract does, and needs no choice
of languages (docs/operations.md has figures).
"""

import time
from collections.abc import Sequence
from dataclasses import replace

from PIL.Image import Image

from ingest.analysis.language import detect
from ingest.errors import Permanent
from ingest.model import OcrSettings
from ingest.providers.ocr.base import Engine
from ingest.providers.ocr.languages import LATIN, data_of, script
from ingest.providers.ocr.lines import GOOD, OcrParagraph, quality, text_of
from ingest.providers.ocr.rapid import RapidOcr
from ingest.providers.ocr.tesseract import Tesseract

BOTH = "rapidocr+tesseract"
_READ_BY_RAPID = frozenset({LATIN, "chi_sim", "chi_tra", "jpn"})
_READ_BADLY = frozenset({"vie"})  # its accents are not in the models


class Both(Engine):
    """Asks tesseract only where RapidOCR is unsure."""

    def __init__(self, settings: OcrSettings) -> None:
        foreign = [name for name in settings.languages if script(name) not in _READ_BY_RAPID]
        others = [name for name in settings.languages if name not in foreign]
        self._seconds = settings.page_timeout
        self._languages = settings.languages
        self._rapid = RapidOcr(settings)
        self._tesseract = Tesseract(replace(settings, languages=(*foreign, *others)))

    @property
    def name(self) -> str:
        """Both engines."""
        return f"{self._rapid.name}, {self._tesseract.name}"

    def _paragraphs(self, image: Image) -> Sequence[OcrParagraph]:
        until = time.monotonic() + self._seconds
        found = self._rapid.paragraphs(image)
        badly: tuple[str, ...] = ()
        if quality(found) >= GOOD:
            badly = self._read_badly(found)
            if not badly:
                return found
        try:
            other = self._tesseract.paragraphs_in(image, badly, until - time.monotonic())
        except Permanent:  # what RapidOCR has read is better than nothing
            return found
        is_better = quality(other) >= (GOOD if badly else quality(found))
        return other if is_better else found

    def _read_badly(self, found: Sequence[OcrParagraph]) -> tuple[str, ...]:
        """The language of a page, if tesseract has it and reads it better."""
        candidates = _READ_BADLY.intersection(self._languages)
        language = data_of(detect(text_of(found))) if candidates else None
        return tuple(candidates & {language})
