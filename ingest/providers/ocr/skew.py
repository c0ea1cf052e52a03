"""Scans that were put in crooked: engines lose lines and their order above a degree or so."""

import math

import numpy as np
from PIL.Image import Image, Resampling

_SMALL = 800  # pixels of the longer side of what is measured
_MOST = 8.0  # degrees to either side
_COARSE, _FINE = 1.0, 0.2
_LEAST = 0.4  # degrees: straight enough
_GAIN = 1.05  # how much clearer the lines have to be after turning


def straightened(grey: Image) -> Image:
    """The picture turned so that its lines run straight; itself if they do."""
    angle = skew(grey)
    if abs(angle) < _LEAST:
        return grey
    paper = int(np.median(np.asarray(_small(grey))))
    return grey.rotate(angle, Resampling.BICUBIC, expand=True, fillcolor=paper)


def skew(grey: Image) -> float:
    """Degrees, counter-clockwise, by which the picture has to be turned; 0 where that is unclear.

    Lines of text make the sums over rows (of a page on its side: over columns) rise and fall most
    steeply when they run straight.
    """
    small = _small(grey)
    paper = int(np.median(np.asarray(small)))
    ink = small.point([abs(value - paper) for value in range(256)])

    def steepness(angle: float) -> float:
        """Of the sums over rows or columns."""
        sums = np.asarray(ink.rotate(angle, Resampling.BILINEAR), dtype=np.float32)
        return max(float(np.square(np.diff(sums.sum(axis=axis))).sum()) for axis in (0, 1))

    coarse = max(np.arange(-_MOST, _MOST + _COARSE, _COARSE), key=steepness)
    best = max(np.arange(coarse - _COARSE, coarse + _COARSE + _FINE, _FINE), key=steepness)
    return float(best) if steepness(best) > _GAIN * steepness(0.0) else 0.0


def _small(grey: Image) -> Image:
    return grey.reduce(math.ceil(max(grey.size) / _SMALL))
