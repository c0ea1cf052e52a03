"""Pictures: what is written in them, by text recognition; the frames of a TIFF are pages.

A picture is decoded after a look at its size, whether somebody can read it or not: a damaged one
is to be called so.
"""

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import PIL
from PIL import Image

from ingest.best_effort import improve
from ingest.errors import Permanent
from ingest.formats import media_types as types
from ingest.formats.common.markdown import plain
from ingest.formats.common.source import Extraction, Recogniser, Source
from ingest.formats.image import info, pixels

_VERSION = f"pillow {PIL.__version__}"
_FORMATS = {
    types.PNG: "PNG",
    types.JPEG: "JPEG",
    types.TIFF: "TIFF",
    types.GIF: "GIF",
    types.WEBP: "WEBP",
    types.BMP: "BMP",
}
_ANIMATIONS = frozenset({types.PNG, types.GIF, types.WEBP})
_MOST_BYTES = 360_000_000  # of a decoded frame: A2 at 600 dots an inch in grey, A1 at 300 in colour
_PIXEL = {"1": 1, "L": 1, "P": 1, "I;16": 2, "I;16B": 2}  # bytes; Pillow gives 4 to all others
_NEW_SUBFILE_TYPE, _SMALL_COPY = 254, 1  # a tag of TIFF, and its bit for copies of other frames


def extract(source: Source) -> Extraction:
    """Recognised text of each page. Without a recogniser all pages are `unread`.

    Permanent: `too_large` (pixels), `too_many_pages`.
    """
    parts: list[str | None] = []
    unread: set[int] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow tells what it finds odd, and then reads it
        with _open(source) as image:
            _check_size(image)  # before metadata: some formats decode the picture to find them
            details = improve("metadata", lambda: info.metadata(image), otherwise=dict[str, Any])
            is_cut = source.media_type in _ANIMATIONS and getattr(image, "is_animated", False)
            for is_whole in _frames(image, source):
                try:
                    text = _read(image, source.ocr) if is_whole else None
                except _Unread:
                    unread.add(len(parts))
                    text = ""
                parts.append(text)
    return Extraction(
        parts=parts,
        extractor=_VERSION,
        paged=source.media_type == types.TIFF,
        by_ocr=frozenset(range(len(parts))) - unread,
        unread=frozenset(unread),
        title=details.pop("title", None),
        metadata=details,
        warnings=("only_first_frame",) if is_cut else (),
    )


class _Unread(Exception):
    """Nobody could recognise what is in the frame."""


def _open(source: Source) -> Image.Image:
    try:
        return Image.open(source.stream, formats=(_FORMATS[source.media_type],))
    except Image.DecompressionBombError:
        raise _too_large() from None


def _frames(image: Image.Image, source: Source) -> Iterator[bool]:
    """Show one page after the other; of an animation, its first frame.

    False for a page that cannot be shown: nothing leads to those behind it.
    """
    yield True
    if source.media_type != types.TIFF:
        return
    shown = 1
    for index in itertools.count(1):
        try:
            image.seek(index)
        except EOFError:
            return
        except Image.DecompressionBombError:
            raise _too_large() from None
        except MemoryError:
            raise
        except Exception:  # Pillow raises whatever a broken directory leads to
            yield False
            return
        if _is_small_copy(image):
            continue
        shown += 1
        if shown > source.max_pages:
            raise Permanent(
                f"The picture has more than {source.max_pages} pages.", code="too_many_pages"
            )
        _check_size(image)
        yield True


def _check_size(image: Image.Image) -> None:
    if image.width * image.height * _PIXEL.get(image.mode, 4) > _MOST_BYTES:
        raise _too_large()


def _is_small_copy(image: Image.Image) -> bool:
    tags = getattr(image, "tag_v2", {})
    kind = tags.get(_NEW_SUBFILE_TYPE, 0)
    return isinstance(kind, int) and bool(kind & _SMALL_COPY)


def _read(image: Image.Image, ocr: Recogniser | None) -> str | None:
    """Text of the frame that is shown, None if it is damaged. _Unread if nobody could read it."""
    try:
        picture = pixels.grey(image)
    except MemoryError:
        raise
    except Exception:  # Pillow raises whatever a broken frame leads to
        return None
    if ocr is None:
        raise _Unread
    try:
        text = improve("ocr", lambda: ocr.read(picture), otherwise=lambda: None)
    except Permanent as error:
        if error.code != "parser_timeout":
            raise
        text = None
    if text is None:
        raise _Unread
    return plain(text)


def _too_large() -> Permanent:
    return Permanent("The picture has too many pixels to be read.", code="too_large")
