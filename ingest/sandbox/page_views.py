"""Pages of a file, drawn and searched for text in a parser process."""

import importlib
import io
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, BinaryIO

from ingest.chunking import places
from ingest.errors import Permanent, Transient
from ingest.formats import catalog
from ingest.formats.archives.compressed import LARGEST, content_of
from ingest.formats.archives.inflate import is_compressed
from ingest.formats.common.page_view import PageView
from ingest.page_words import Box, unpack
from ingest.sandbox import limits
from ingest.sandbox.messages import MOST_BOXES, Located, LocateRequest, Rendered, RenderRequest

if TYPE_CHECKING:
    from PIL.Image import Image

_LARGEST_PNG = 32 * 1024 * 1024
_COMPRESSION = 4  # zlib's default takes twice the time for a twentieth less


def render(file: BinaryIO, request: RenderRequest) -> Rendered:
    """Draw a page. Raises Permanent with the codes of parsers."""
    png = io.BytesIO()
    with _opened(file, request) as page:
        image = _grey_if_colourless(page.draw(request.width))
        image.save(png, "PNG", compress_level=_COMPRESSION)
    if png.tell() > _LARGEST_PNG:
        raise Permanent("The picture of this page is too large.", code="too_large")
    return Rendered(png=png.getvalue(), width=image.width, height=image.height)


def _grey_if_colourless(image: "Image") -> "Image":
    """Most pages are black on white: half the bytes."""
    if image.mode != "RGB":
        return image
    red, green, blue = image.split()
    return red if red.tobytes() == green.tobytes() == blue.tobytes() else image


def locate(file: BinaryIO, request: LocateRequest) -> Located:
    """Find ranges of a page's text on it. Raises as `render`."""
    text: str = ""
    boxes: Sequence[Box] = ()
    with _opened(file, request) as page:
        width, height = page.size
        letters = page.letters() if request.words is None else None
    if request.words is not None:
        text, boxes = places.spread(unpack(request.words))
    elif letters is not None:
        text, boxes = letters
    found = places.locate(request.text, request.ranges, text, boxes, most=MOST_BOXES)
    return Located(
        width=width,
        height=height,
        places=tuple(map(tuple, found)),
        has_words=any(map(str.isalnum, text)),
    )


@contextmanager
def _opened(file: BinaryIO, request: RenderRequest | LocateRequest) -> Iterator[PageView]:
    found = catalog.find(request.media_type)
    if found is None or found.viewer is None:
        raise Permanent("Files of this type have no pictures of pages.", code="unsupported_type")
    try:
        with ExitStack() as opened:
            if is_compressed(file):
                opened.enter_context(limits.file_size_limit(LARGEST))
                file = opened.enter_context(content_of(file)).stream
            viewer = importlib.import_module(found.viewer)
            yield opened.enter_context(viewer.open_page(file, request.page))
    except (Permanent, Transient, MemoryError):
        raise
    except ImportError as error:
        raise Permanent("The parser for this type is missing.", code="parser_missing") from error
    except Exception as error:  # Pillow and pdfium may raise anything
        raise Permanent("This page is damaged.", code="corrupt") from error
