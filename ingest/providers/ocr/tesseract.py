"""The program `tesseract`, if the operator installed it, with the chosen languages."""

import functools
import io
import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence

from PIL.Image import Image

from ingest.analysis.language import detect
from ingest.errors import Permanent
from ingest.model import OcrSettings
from ingest.page_words import Word
from ingest.providers.ocr.base import Engine, fitted, too_slow
from ingest.providers.ocr.languages import by_script, data_of, ordered, usual
from ingest.providers.ocr.lines import (
    GOOD,
    OcrLine,
    OcrParagraph,
    cells,
    close_gaps,
    quality,
    text_of,
)

PROGRAM = "tesseract"
_SMALLEST, _LARGEST = 2000, 3600  # pixels: about 180 and 300 dpi of a page
_ASK_SECONDS = 20.0
_READABLE = 60  # quality of a page in the right script, perhaps without its accents
_PASSED_ON = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "TESSDATA_PREFIX", "TMPDIR")
_ORIENT_AND_READ, _READ = "1", "3"  # page segmentation modes
_WORD = "5"  # value of the column `level`
_COLUMNS = 12


class Tesseract(Engine):
    """Runs the program once per picture: PNG in, a table of words (TSV) out."""

    def __init__(self, settings: OcrSettings) -> None:
        self._settings = settings

    @functools.cached_property
    def _installed(self) -> tuple[str, ...]:
        return installed_languages()

    @functools.cached_property
    def _languages(self) -> tuple[str, ...]:
        return self._settings.languages or ordered(self._installed)

    @functools.cached_property
    def name(self) -> str:
        """Program, version and languages."""
        return f"{version()} {'+'.join(usual(self._languages))}"

    def _paragraphs(self, image: Image) -> Sequence[OcrParagraph]:
        return self.paragraphs_in(image, (), self._settings.page_timeout)

    def paragraphs_in(
        self, image: Image, languages: Sequence[str], seconds: float
    ) -> Sequence[OcrParagraph]:
        """Read the picture in these languages, or in those that suit it best.

        The usual ones come first. Where these find no good text, the other scripts follow; where
        the text is in another language that is installed, that one.
        """
        until = time.monotonic() + seconds
        picture = fitted(image, smallest=_SMALLEST, largest=_LARGEST)
        used = tuple(languages) or usual(self._languages)
        best = self._read(picture, used, seconds)
        for others in () if languages else self._others(used, best):
            left = until - time.monotonic()
            try:
                found = self._read(picture, others, left) if left > 0 else best
            except Permanent:  # what was read before is better than nothing
                return best
            best = max(best, found, key=quality)
            if quality(best) >= GOOD:
                break
        return best

    def _others(
        self, used: tuple[str, ...], found: Sequence[OcrParagraph]
    ) -> Iterator[tuple[str, ...]]:
        unused = [name for name in self._languages if name not in used]
        if not unused:
            return
        if quality(found) >= _READABLE:
            language = data_of(detect(text_of(found)))
            if language in unused:
                yield (language,)
            return
        yield from by_script(unused)

    def _read(
        self, picture: Image, languages: Sequence[str], seconds: float
    ) -> Sequence[OcrParagraph]:
        mode = _ORIENT_AND_READ if "osd" in self._installed else _READ
        arguments = ("-", "-", "-l", "+".join(languages), "--psm", mode)
        try:
            done = _run(
                *arguments, "-c", "tessedit_create_tsv=1", data=_png(picture), seconds=seconds
            )
        except subprocess.TimeoutExpired:
            raise too_slow(self._settings.page_timeout) from None
        if done.returncode != 0:
            raise Permanent("Tesseract could not read the picture.", code="parser_crashed")
        return parse(done.stdout.decode("utf-8", "replace"), size=picture.size)


def version() -> str:
    """Return the version (`tesseract 5.3.0`). Raises OSError or SubprocessError on failure."""
    done = _run("--version", seconds=_ASK_SECONDS)
    done.check_returncode()
    first = (done.stdout or done.stderr).decode("utf-8", "replace").splitlines()[:1]
    return " ".join(first[0].split()[:2]) if first else PROGRAM


def installed_languages() -> tuple[str, ...]:
    """Languages with installed data, including `osd` (orientation). Raises as version()."""
    done = _run("--list-langs", seconds=_ASK_SECONDS)
    done.check_returncode()
    lines = (done.stdout or done.stderr).decode("utf-8", "replace").splitlines()
    return tuple(line.strip() for line in lines[1:] if line.strip())  # the first is a heading


def parse(table: str, *, size: tuple[int, int]) -> list[list[OcrLine]]:
    """Paragraphs in reading order from the program's table of words (TSV) of a picture.

    `size`: its width and height in pixels.
    """
    paragraphs: dict[tuple[str, ...], dict[str, list[Mapping[str, str]]]] = {}
    header, *rows = (row.split("\t", _COLUMNS - 1) for row in table.split("\n"))
    for row in rows:
        if len(row) == _COLUMNS and row[0] == _WORD and row[-1].strip():
            word = dict(zip(header, row, strict=True))
            lines = paragraphs.setdefault((word["block_num"], word["par_num"]), {})
            lines.setdefault(word["line_num"], []).append(word)
    return [[_line(words, size) for words in lines.values()] for lines in paragraphs.values()]


def _line(words: Sequence[Mapping[str, str]], size: tuple[int, int]) -> OcrLine:
    texts = [word["text"].strip() for word in words]
    weighted = sum(float(word["conf"]) * len(text) for word, text in zip(words, texts, strict=True))
    left = [int(word["left"]) for word in words]
    top = [int(word["top"]) for word in words]
    right = [x + int(word["width"]) for x, word in zip(left, words, strict=True)]
    bottom = [y + int(word["height"]) for y, word in zip(top, words, strict=True)]
    width, height = size
    return OcrLine(
        text=close_gaps(" ".join(texts)),
        confidence=weighted / sum(map(len, texts)),
        left=min(left),
        top=min(top),
        right=max(right),
        bottom=max(bottom),
        cells=cells(list(zip(left, right, strict=True)), height=max(bottom) - min(top)),
        words=tuple(
            Word(text, (x0 / width, y0 / height, x1 / width, y1 / height))
            for text, x0, y0, x1, y1 in zip(texts, left, top, right, bottom, strict=True)
        ),
    )


def _png(image: Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def _run(
    *arguments: str, seconds: float, data: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run tesseract in the parser's process group, so that it is killed with the parser."""
    # More than one thread makes tesseract slower and takes CPU time from other files.
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return subprocess.run(  # noqa: S603 - no shell, and no argument comes from a file
        [PROGRAM, *arguments],
        input=data,
        stdin=None if data is not None else subprocess.DEVNULL,
        capture_output=True,
        timeout=seconds,
        check=False,
        env={**environment, "OMP_THREAD_LIMIT": "1"},
    )
