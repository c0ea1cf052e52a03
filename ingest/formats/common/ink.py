"""Tells a picture with writing on it from a blank page and from a photo, whatever the script.

OCR that finds nothing does not say why: the page may be blank, blurred, or in a script that the
engine cannot read. Writing is many marks in rows on even paper. Photos have no even paper; folds,
ruled lines, bar codes, punch holes and dust are too few, or too straight.
"""

import math

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

_LONGER_SIDE = 900  # pixels of the reduced picture; of a page, 12 are a line of print
_MARGIN = 0.06  # of each side: dark edges, punch holes and staples of scans
_CELL, _TILE = 12, 24  # pixels
_LEAST_CONTRAST = 24.0  # grey levels; what shines through from the back of a sheet has less
_GRAINS = 5.0  # ink is darker than the paper by this many standard deviations of its grain
_EVEN = 20.0  # grey levels between the papers of neighbouring tiles
_MOST_UNEVEN = 0.15  # share of the tiles around a cell
_LEAST_INK, _THICK, _SOLID = 0.04, 0.25, 0.8  # shares of a cell
_MOST_SOLID = 0.4  # solid cells to inked ones, around a cell and on the page
_STROKE = 2  # changes from paper to ink and back
_SOFT = 40.0  # grey levels between neighbouring pixels; edges that are not blurred have more
_ROW = 5  # written cells side by side; a hole or a spot has fewer
_LEAST_CELLS, _LEAST_BESIDE_PHOTOS = 12, 100

_Array = NDArray[np.float32]
_Mask = NDArray[np.bool_]


def has_writing(picture: Image.Image) -> bool:
    """Whether a picture (mode `L`) seems to have writing on it."""
    small = _reduced(picture)
    if min(small.size) < _TILE:
        return False
    grain = float(np.median(np.abs(np.diff(np.asarray(small, dtype=np.float32), axis=1))))
    values = np.asarray(small.filter(ImageFilter.MedianFilter(3)), dtype=np.float32)
    return any(_is_written(sheet, grain) for sheet in (values, 255 - values))


def _reduced(picture: Image.Image) -> Image.Image:
    width, height = picture.size
    across, down = round(width * _MARGIN), round(height * _MARGIN)
    inner = picture.crop((across, down, width - across, height - down))
    return inner.reduce(max(1, math.ceil(max(picture.size) / _LONGER_SIDE)))


def _is_written(values: _Array, grain: float) -> bool:
    """Whether there are rows of marks that are darker than the paper around them."""
    tiles = _blocks(values, _TILE)
    top = np.percentile(tiles, 95, axis=(1, 3)).astype(np.float32)
    paper = _filtered(_filtered(top, ImageFilter.MaxFilter(3)), ImageFilter.MedianFilter(5))
    ground = np.kron(paper, np.ones((_TILE, _TILE), dtype=np.float32))
    values = values[: ground.shape[0], : ground.shape[1]]
    inked = ground - values > max(_LEAST_CONTRAST, _GRAINS * grain)
    cells = _blocks(inked, _CELL)
    share = cells.mean(axis=(1, 3))
    is_solid = share > _SOLID
    is_inked = (share >= _LEAST_INK) & ~is_solid
    level, upright = (np.abs(np.diff(cells, axis=axis)).sum(axis=axis) for axis in (3, 1))
    is_thick = share >= _THICK
    crossings = level.max(axis=1) >= _STROKE, upright.max(axis=2) >= _STROKE
    # Letters have strokes in both directions; of large ones, a cell may hold no more than a stem.
    has_strokes = crossings[0] & crossings[1] | is_thick & _beside(crossings[0]) & _beside(
        crossings[1]
    )
    is_blurred = is_thick & (_steepest(values) <= _SOFT)
    uneven = np.abs(top - paper) >= _EVEN
    is_even = np.kron(_around(uneven), np.ones((2, 2), dtype=np.float32)) <= _MOST_UNEVEN
    is_flat = _around(is_solid) <= _MOST_SOLID * _around(is_inked)
    written = is_inked & (has_strokes | is_blurred) & is_even & is_flat
    count = int((_in_rows(written) | _in_rows(written.T).T).sum())
    is_sheet = uneven.mean() <= _MOST_UNEVEN and is_solid.sum() <= _MOST_SOLID * is_inked.sum()
    return count >= (_LEAST_CELLS if is_sheet else _LEAST_BESIDE_PHOTOS)


def _steepest(values: _Array) -> _Array:
    """The largest difference between neighbouring pixels in each cell."""
    level, upright = (np.abs(np.diff(values, axis=axis, append=np.nan)) for axis in (1, 0))
    steepest: _Array = np.nanmax(_blocks(np.fmax(level, upright), _CELL), axis=(1, 3))
    return steepest


def _blocks(values: NDArray[np.generic], side: int) -> _Array:
    """Shape (rows of blocks, side, columns of blocks, side); what is left over is cut off."""
    rows, columns = values.shape[0] // side, values.shape[1] // side
    whole = values[: rows * side, : columns * side]
    return whole.reshape(rows, side, columns, side).astype(np.float32)


def _filtered(values: _Array | _Mask, kind: ImageFilter.Filter) -> _Array:
    return np.asarray(Image.fromarray(values.astype(np.uint8)).filter(kind), dtype=np.float32)


def _around(mask: _Mask) -> _Array:
    """The share of true values in the neighbourhood of each."""
    grey = Image.fromarray(np.where(mask, 255, 0).astype(np.uint8))
    return np.asarray(grey.filter(ImageFilter.BoxBlur(2)), dtype=np.float32) / np.float32(255)


def _beside(mask: _Mask) -> _Mask:
    """Where a value or one of its eight neighbours is true."""
    return _filtered(mask, ImageFilter.MaxFilter(3)) > 0


def _in_rows(mask: _Mask) -> _Mask:
    """Where a row has enough true values side by side."""
    found = np.zeros_like(mask)
    for start in range(mask.shape[1] - _ROW + 1):
        window = slice(start, start + _ROW)
        found[:, window] |= mask[:, window].all(axis=1, keepdims=True)
    return found
