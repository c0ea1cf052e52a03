"""RapidOCR: PP-OCR models and their runtime from wheels, for machines without tesseract.

One set of models reads Chinese, Japanese, English and other languages in Latin script.
"""

import functools
import importlib.metadata
import importlib.util
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL.Image import Image

from ingest.errors import Permanent
from ingest.model import OcrSettings
from ingest.optional_steps import improve
from ingest.page_words import Box, Word
from ingest.providers.ocr.base import Engine, fitted, too_slow
from ingest.providers.ocr.layout import ordered, turned
from ingest.providers.ocr.lines import OcrLine, OcrParagraph, close_gaps

PACKAGE = "rapidocr"
_SMALLEST, _LARGEST = 1200, 2000  # pixels
# Pixels of the longer side for line detection. With this, and lines recognised one at a time, a
# page takes 0.7 GB; with RapidOCR's defaults, twice that.
_DETECTED = 1280
_TALL = 1.5  # height to width: such a line is vertical, and RapidOCR rotates it by 90 degrees
_LEAST_SCORE = 0.5  # RapidOCR's own default; below, it reads letters in drawings
_UPSIDE_DOWN = "180"
_TASKS = ("Det", "Cls", "Rec")
_WORD = re.compile(r"\S+")
# Greek to Georgian and beyond, Hangul: the models know some letters as symbols, but no such text.
_FOREIGN = re.compile("[\u0370-\u1dff\u1f00-\u1fff\uac00-\ud7af]")
_OUT_OF_MEMORY = re.compile(r"alloc|memory", re.IGNORECASE)


class RapidOcr(Engine):
    """Loads its models when it reads the first picture."""

    def __init__(self, settings: OcrSettings) -> None:
        self._seconds = settings.page_timeout

    @property
    def name(self) -> str:
        """Package and version; languages cannot be chosen."""
        return version()

    @functools.cached_property
    def _rapid(self) -> Any:
        from rapidocr import RapidOCR

        models = _models()
        if models is None:
            raise Permanent("RapidOCR came without its models.", code="internal")
        parameters: dict[str, Any] = {
            f"{task}.model_path": str(path) for task, path in models.items()
        }
        for threads in ("intra_op_num_threads", "inter_op_num_threads"):
            parameters[f"EngineConfig.onnxruntime.{threads}"] = 1
        parameters |= {
            "Global.log_level": "critical",
            "Det.limit_type": "max",
            "Det.limit_side_len": _DETECTED,
        }
        return RapidOCR(params=parameters)

    def _paragraphs(self, image: Image) -> Sequence[OcrParagraph]:
        until = time.monotonic() + self._seconds
        grey = np.asarray(fitted(image, smallest=_SMALLEST, largest=_LARGEST))
        try:
            lines = self._lines(np.stack([grey] * 3, axis=-1), until)
            if _is_foreign("".join(line.text for line in lines)):
                lines = [replace(line, text="") for line in lines]
            read = [line for line in lines if line.text]
            found: list[OcrParagraph] = improve(
                "ocr", lambda: ordered(read), otherwise=lambda: [read]
            )
            return [*found, *([line] for line in lines if not line.text)]
        except (Permanent, MemoryError):
            raise
        except Exception as error:  # from onnxruntime and OpenCV, wrapped by RapidOCR
            if _OUT_OF_MEMORY.search(f"{type(error).__name__} {error}"):
                raise MemoryError from error
            raise Permanent(
                "RapidOCR could not read the picture.", code="parser_crashed"
            ) from error

    def _lines(self, picture: NDArray[np.uint8], until: float) -> list[OcrLine]:
        """Recognised lines, with positions on the upright page."""
        from rapidocr.main import RapidOCRError

        try:
            crops, found = self._rapid.detect_and_crop(picture, {})
        except RapidOCRError:  # nothing was found
            return []
        crops, turns = self._rapid.cls_and_rotate(crops)
        lines = []
        height, width = picture.shape[:2]
        labels = [label for label, _ in turns.cls_res]
        for crop, corners, label in zip(crops, found.boxes, labels, strict=True):
            if time.monotonic() > until:
                raise too_slow(self._seconds)
            read = self._rapid.recognize_txt([crop])
            text, score = read.txts[0], read.scores[0]
            is_sure = bool(text.strip()) and score >= _LEAST_SCORE
            words = _words(text, corners / (width, height), _edges(corners, label))
            # A line without text shows what was not read.
            lines.append(
                _line(text, score, corners, words) if is_sure else _line("", 0, corners, ())
            )
        quarters = _quarters(found.boxes, labels)
        return turned(lines, width=width, height=height, quarters=quarters)


def version() -> str:
    """The version, for example `rapidocr 3.10.0`."""
    return f"{PACKAGE} {importlib.metadata.version(PACKAGE)}"


def is_installed() -> bool:
    """Whether the package is installed with its models; nothing is downloaded."""
    return _models() is not None


def _models() -> dict[str, Path] | None:
    """The models in the wheel, by RapidOCR's task names; None if any is missing."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "models"
    found = {task: sorted(folder.glob(f"*_{task.lower()}_*.onnx")) for task in _TASKS}
    return (
        {task: paths[-1] for task, paths in found.items() if paths} if all(found.values()) else None
    )


def _is_foreign(text: str) -> bool:
    """Whether most of it is in scripts that the models do not read."""
    return 2 * len(_FOREIGN.findall(text)) > len("".join(text.split()))


def _quarters(boxes: Sequence[NDArray[np.float32]], labels: Sequence[str]) -> int:
    """Counter-clockwise quarter turns that make the page upright."""
    sides = [(np.ptp(box[:, 0]), np.ptp(box[:, 1])) for box in boxes]
    is_sideways = 2 * sum(height >= _TALL * width for width, height in sides) > len(boxes)
    is_upside_down = 2 * sum(label == _UPSIDE_DOWN for label in labels) > len(labels)
    return int(is_sideways) + 2 * int(is_upside_down)


def _edges(corners: NDArray[np.float32], label: str) -> tuple[int, int, int, int]:
    """Indices of the corners from which and to which the line runs, along either long side."""
    # RapidOCR turns a tall line so that its upper end comes first.
    is_tall = np.ptp(corners[:, 1]) >= _TALL * np.ptp(corners[:, 0])
    first, last, other_first, other_last = (0, 3, 1, 2) if is_tall else (0, 1, 3, 2)
    if label == _UPSIDE_DOWN:
        return last, first, other_last, other_first
    return first, last, other_first, other_last


def _words(
    text: str, corners: NDArray[np.float64], edges: tuple[int, int, int, int]
) -> tuple[Word, ...]:
    """The words of a line, each with its share of the line's length."""
    first, last, other_first, other_last = (corners[index] for index in edges)
    words = []
    for found in _WORD.finditer(text):
        start, end = found.start() / len(text), found.end() / len(text)
        points = np.array(
            [
                begin + (stop - begin) * share
                for begin, stop in ((first, last), (other_first, other_last))
                for share in (start, end)
            ]
        )
        (left, top), (right, bottom) = points.min(axis=0), points.max(axis=0)
        box: Box = (float(left), float(top), float(right), float(bottom))
        words.append(Word(found[0], box))
    return tuple(words)


def _line(
    text: str, score: float, corners: NDArray[np.float32], words: tuple[Word, ...]
) -> OcrLine:
    left, top = corners.min(axis=0)
    right, bottom = corners.max(axis=0)
    return OcrLine(
        text=close_gaps(" ".join(text.split())),
        confidence=100 * float(score),
        left=float(left),
        top=float(top),
        right=float(right),
        bottom=float(bottom),
        words=words,
    )
