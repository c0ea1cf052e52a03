"""Pictures: their text, by OCR; the frames of a TIFF are pages.

A picture is decoded after a check of its size, even without OCR, so that a damaged one is reported
as damaged.
"""

import itertools
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import PIL
from PIL import Image

from ingest.errors import Permanent
from ingest.formats import media_types as types
from ingest.formats.common.ink import has_writing
from ingest.formats.common.input_file import Extraction, InputFile, Recogniser
from ingest.formats.common.markdown import plain
from ingest.formats.image import info, pixels
from ingest.optional_steps import improve
from ingest.page_words import Recognised, Word

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
_MOST_BYTES = 360_000_000  # of a decoded frame: A2 at 600 dpi in grey, A1 at 300 dpi in colour
_PIXEL = {"1": 1, "L": 1, "P": 1, "I;16": 2, "I;16B": 2}  # bytes; Pillow uses 4 for all other modes
_NEW_SUBFILE_TYPE, _SMALL_COPY = 254, 1  # a TIFF tag, and its bit for reduced copies


def extract(source: InputFile) -> Extraction:
    """Recognised text of each page. Without OCR all pages are `unread`.

    Raises Permanent: `too_large` (pixels), `too_many_pages`.
    """
    parts: list[str | None] = []
    words: dict[int, Sequence[Word]] = {}
    unread: set[int] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns about oddities that it can read
        with _open(source) as image:
            check_size(image)  # before metadata, for which some formats decode the picture
            details = improve("metadata", lambda: info.metadata(image), otherwise=dict[str, Any])
            is_cut = source.media_type in _ANIMATIONS and getattr(image, "is_animated", False)
            for is_whole in _frames(image, source):
                try:
                    found = _read(image, source.ocr) if is_whole else None
                except _Unread:
                    unread.add(len(parts))
                    found = Recognised("")
                if found is not None:
                    words[len(parts)] = found.words
                parts.append(None if found is None else plain(found.text))
    return Extraction(
        parts=parts,
        extractor=_VERSION,
        paged=source.media_type == types.TIFF,
        by_ocr=frozenset(range(len(parts))) - unread,
        unread=frozenset(unread),
        words=words,
        title=details.pop("title", None),
        metadata=details,
        warnings=("only_first_frame",) if is_cut else (),
    )


class _Unread(Exception):
    """OCR is off, failed on the frame, or could not read the writing on it."""


def _open(source: InputFile) -> Image.Image:
    try:
        return Image.open(source.stream, formats=(_FORMATS[source.media_type],))
    except Image.DecompressionBombError:
        raise _too_large() from None


def _frames(image: Image.Image, source: InputFile) -> Iterator[bool]:
    """Seek to one page after the other; of an animation, only to its first frame.

    Yields False for a page that cannot be reached; the pages after it cannot be, either.
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
        except Exception:  # Pillow may raise anything for a broken directory
            yield False
            return
        if is_small_copy(image):
            continue
        shown += 1
        if shown > source.max_pages:
            raise Permanent(
                f"The picture has more than {source.max_pages} pages.", code="too_many_pages"
            )
        check_size(image)
        yield True


def check_size(image: Image.Image) -> None:
    """Raises Permanent `too_large` if decoding the current frame would take too much memory."""
    if image.width * image.height * _PIXEL.get(image.mode, 4) > _MOST_BYTES:
        raise _too_large()


def is_small_copy(image: Image.Image) -> bool:
    """Whether the current frame of a TIFF is a reduced copy of another one, not a page."""
    tags = getattr(image, "tag_v2", {})
    kind = tags.get(_NEW_SUBFILE_TYPE, 0)
    return isinstance(kind, int) and bool(kind & _SMALL_COPY)


def _read(image: Image.Image, ocr: Recogniser | None) -> Recognised | None:
    """The words of the current frame, None if it is damaged. _Unread: see there."""
    try:
        picture = pixels.grey(image)
    except MemoryError:
        raise
    except Exception:  # Pillow may raise anything for a broken frame
        return None
    if ocr is None:
        raise _Unread
    try:
        found = improve("ocr", lambda: ocr.recognise(picture), otherwise=lambda: None)
    except Permanent as error:
        if error.code != "parser_timeout":
            raise
        found = None
    if found is None:
        raise _Unread
    if not found.text.strip() and improve("ocr", lambda: has_writing(picture), otherwise=bool):
        raise _Unread
    return found


def _too_large() -> Permanent:
    return Permanent("The picture has too many pixels.", code="too_large")
