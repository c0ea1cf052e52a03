"""The interface of OCR engines, and what they share."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from PIL.Image import Image, Resampling

from ingest.errors import Permanent
from ingest.optional_steps import improve
from ingest.page_words import Recognised, Word
from ingest.providers.ocr.lines import OcrParagraph, compose
from ingest.providers.ocr.skew import skew, straightened, unrotated


class Engine(ABC):
    """Reads the text in pictures, one at a time."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Engine, version and languages, such as `tesseract 5.3.0 eng+deu`."""

    def read(self, image: Image) -> str:
        """The text of `recognise`."""
        return self.recognise(image).text

    def recognise(self, image: Image) -> Recognised:
        """Read the picture's text in reading order, and where its words stand.

        Raises Permanent `parser_timeout`, `parser_memory` or `parser_crashed`.
        """
        grey = image.convert("L")
        angle = improve("ocr", lambda: skew(grey), otherwise=float)
        straight = improve("ocr", lambda: straightened(grey, angle), otherwise=lambda: grey)
        paragraphs = self.paragraphs(straight)
        text = improve("ocr", lambda: compose(paragraphs), otherwise=lambda: _plain(paragraphs))
        words = (word for lines in paragraphs for line in lines for word in line.words)
        if straight is not grey:
            words = (
                Word(text, unrotated(box, straight.size, grey.size, angle)) for text, box in words
            )
        return Recognised(text, tuple(words))

    def paragraphs(self, image: Image) -> Sequence[OcrParagraph]:
        """The lines of an upright grey picture, in reading order, including noise."""
        return self._paragraphs(image)

    @abstractmethod
    def _paragraphs(self, image: Image) -> Sequence[OcrParagraph]:
        """Recognised lines of a grey picture, grouped into paragraphs, including noise."""


def _plain(paragraphs: Sequence[OcrParagraph]) -> str:
    return "\n\n".join("\n".join(line.text for line in lines) for lines in paragraphs)


def fitted(image: Image, *, smallest: int, largest: int) -> Image:
    """The grey picture, scaled so that its longer side is between the two limits (pixels).

    Letters of a screenshot are too small for the engines, those of a 600-dpi scan larger than
    needed. Pictures are enlarged at most three times: more adds no detail.
    """
    longer = max(image.size)
    scale = min(largest / longer, max(1.0, min(smallest / longer, 3.0)))
    if scale == 1.0:
        return image
    width, height = (max(1, round(side * scale)) for side in image.size)
    return image.resize((width, height), Resampling.LANCZOS)


def too_slow(seconds: float) -> Permanent:
    """The error for a picture that exceeds the time limit."""
    return Permanent(
        f"Recognising the text of one picture took longer than {seconds:g} s.",
        code="parser_timeout",
    )
