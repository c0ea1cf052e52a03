"""What an engine is, whatever it runs on."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from PIL.Image import Image, Resampling

from ingest.best_effort import improve
from ingest.errors import Permanent
from ingest.providers.ocr.lines import Paragraph, compose
from ingest.providers.ocr.skew import straightened


class Engine(ABC):
    """Reads the text in pictures, one at a time."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Engine, version and languages: `tesseract 5.3.0 eng+deu`."""

    def read(self, image: Image) -> str:
        """Text of the picture in reading order, empty if it has none.

        Permanent: `parser_timeout` if it takes too long, `parser_memory`, `parser_crashed`.
        """
        grey = image.convert("L")
        straight = improve("ocr", lambda: straightened(grey), otherwise=lambda: grey)
        paragraphs = self._paragraphs(straight)
        return improve("ocr", lambda: compose(paragraphs), otherwise=lambda: _plain(paragraphs))

    @abstractmethod
    def _paragraphs(self, image: Image) -> Sequence[Paragraph]:
        """Lines of a grey picture as they are read, grouped to paragraphs; noise included."""


def _plain(paragraphs: Sequence[Paragraph]) -> str:
    return "\n\n".join("\n".join(line.text for line in lines) for lines in paragraphs)


def fitted(image: Image, *, smallest: int, largest: int) -> Image:
    """The grey picture, its longer side between the two lengths in pixels.

    Letters of a screenshot are too small for the engines, those of a scan at 600 dots an inch
    larger than they need. Nothing is made more than three times as large: that adds no detail.
    """
    longer = max(image.size)
    scale = min(largest / longer, max(1.0, min(smallest / longer, 3.0)))
    if scale == 1.0:
        return image
    width, height = (max(1, round(side * scale)) for side in image.size)
    return image.resize((width, height), Resampling.LANCZOS)


def too_slow(seconds: float) -> Permanent:
    """One picture took longer than it may."""
    return Permanent(
        f"Recognising the text of one picture took longer than {seconds:g} s.",
        code="parser_timeout",
    )
