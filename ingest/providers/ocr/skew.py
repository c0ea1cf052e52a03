"""Straightens skewed scans: above about one degree, engines lose lines and their order."""

import math

import numpy as np
from PIL.Image import Image, Resampling

from ingest.page_words import Box

Size = tuple[int, int]

_SMALL = 800  # pixels: longer side of the reduced picture that is measured
_MOST = 8.0  # degrees in either direction
_COARSE, _FINE = 1.0, 0.2
_LEAST = 0.4  # degrees; smaller angles are ignored
_GAIN = 1.05  # factor by which rotation must sharpen the lines


def straightened(grey: Image, angle: float) -> Image:
    """The picture, rotated by `angle` (see `skew`); the same object if that is next to nothing."""
    if abs(angle) < _LEAST:
        return grey
    paper = int(np.median(np.asarray(_small(grey))))
    return grey.rotate(angle, Resampling.BICUBIC, expand=True, fillcolor=paper)


def unrotated(box: Box, straight: Size, skewed: Size, angle: float) -> Box:
    """Where a box of the straightened picture stands in the skewed one.

    Sizes are width and height in pixels. The box keeps its size: it holds a word, not a whole line.
    """
    (width, height), (old_width, old_height) = straight, skewed
    left, top, right, bottom = box
    x, y = ((left + right) / 2 - 0.5) * width, ((top + bottom) / 2 - 0.5) * height
    turn = math.radians(angle)
    x, y = x * math.cos(turn) - y * math.sin(turn), x * math.sin(turn) + y * math.cos(turn)
    half_width, half_height = (right - left) * width / 2, (bottom - top) * height / 2
    return (
        0.5 + (x - half_width) / old_width,
        0.5 + (y - half_height) / old_height,
        0.5 + (x + half_width) / old_width,
        0.5 + (y + half_height) / old_height,
    )


def skew(grey: Image) -> float:
    """Counter-clockwise degrees of rotation that straighten the picture; 0 if unclear.

    When text lines are straight, the row sums (column sums for a page on its side) rise and fall
    most steeply.
    """
    small = _small(grey)
    paper = int(np.median(np.asarray(small)))
    ink = small.point([abs(value - paper) for value in range(256)])

    def steepness(angle: float) -> float:
        """Steepness of the row or column sums after rotation."""
        sums = np.asarray(ink.rotate(angle, Resampling.BILINEAR), dtype=np.float32)
        return max(float(np.square(np.diff(sums.sum(axis=axis))).sum()) for axis in (0, 1))

    coarse = max(np.arange(-_MOST, _MOST + _COARSE, _COARSE), key=steepness)
    best = max(np.arange(coarse - _COARSE, coarse + _COARSE + _FINE, _FINE), key=steepness)
    return float(best) if steepness(best) > _GAIN * steepness(0.0) else 0.0


def _small(grey: Image) -> Image:
    return grey.reduce(math.ceil(max(grey.size) / _SMALL))
