"""Shows a page of a picture file; it has no text layer."""

import itertools
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final

from PIL import Image, ImageOps

from ingest.errors import Permanent
from ingest.formats.common.page_view import Letters, fitting, no_such_page
from ingest.formats.image.picture import check_size, is_small_copy
from ingest.formats.image.pixels import stretched

_MOST_FRAMES: Final = 10_000
_WHITE: Final = (255, 255, 255, 255)


@contextmanager
def open_page(source: BinaryIO, number: int) -> Iterator["_Page"]:
    """Open the page with this 1-based number. Raises Permanent `corrupt` and `too_large`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns about oddities that it can read
        try:
            image = Image.open(source)
        except Image.DecompressionBombError:
            raise Permanent("The picture has too many pixels.", code="too_large") from None
        with image:
            _seek(image, number)
            check_size(image)
            yield _Page(image)


def _seek(image: Image.Image, number: int) -> None:
    """Find the page as the extractor counts: without the reduced copies in a TIFF."""
    if image.format != "TIFF":
        if number != 1:
            raise no_such_page(number)
        return
    shown = 0
    for index in itertools.count():
        try:
            image.seek(index)
        except EOFError:
            raise no_such_page(number) from None
        shown += index == 0 or not is_small_copy(image)
        if shown == number:
            return
        if index > _MOST_FRAMES:
            raise no_such_page(number)


class _Page:
    def __init__(self, image: Image.Image) -> None:
        self._image = image

    @property
    def size(self) -> tuple[float, float]:
        width, height = self._image.size
        turned = self._image.getexif().get(0x0112, 1) in (5, 6, 7, 8)
        return (height, width) if turned else (width, height)

    def draw(self, width: int) -> Image.Image:
        size = fitting(self.size, min(width, int(self.size[0])))
        self._image.draft("RGB", (2 * max(size), 2 * max(size)))  # decodes a large JPEG smaller
        upright = ImageOps.exif_transpose(self._image)
        if upright.mode.startswith(("I", "F")):
            upright = stretched(upright)
        elif upright.mode not in ("L", "RGB"):
            rgba = upright.convert("RGBA")
            upright = Image.new("RGBA", rgba.size, _WHITE)
            upright.alpha_composite(rgba)
            upright = upright.convert("RGB")
        return upright.resize(size, Image.Resampling.LANCZOS)

    def letters(self) -> Letters | None:
        return None
