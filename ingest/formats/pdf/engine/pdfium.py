"""Fast access to pdfium: reads text, characters and objects of a page in bulk.

Why not pypdfium2 alone: a call of its binding takes a microsecond or more, mostly for conversions.
Here the same C functions are called with raw addresses and write into arrays; through the binding,
examining a page would double its reading time. In ingest/formats, only the modules of this folder
use ctypes.

Handles are addresses (int); 0 means that pdfium failed or found nothing, and callers must check it.
Pages, text pages and annotations must be closed by whoever opened them; objects, segments and
characters are valid while their page is open. Buffers belong to this module and the next call
overwrites them, so functions return copies. A failed call leaves the default that its function
documents. One thread reads one document. A crash ends the parser process; the sandbox reports it.
"""

import ctypes
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pypdfium2 import raw

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in page coordinates before rotation, y upwards."""

Boxes = NDArray[np.float32]
"""Boxes of many objects, shape (objects, 4)."""

CharStyle = tuple[int, int, int, int, int]
"""Of a character: render mode, then red, green, blue, opacity from 0 to 255."""

_HANDLE = ctypes.c_void_p
_INT = ctypes.c_int
_ULONG = ctypes.c_ulong


def _call(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    """Bind a pdfium function that keeps the GIL: there is one thread, and it saves time.

    Without argument types, the function takes ints, and addresses converted by `_argument`.
    Converting them once costs half as much as ctypes checking them in each call.
    """
    address = ctypes.cast(getattr(raw, name), ctypes.c_void_p).value
    if address is None:
        raise ImportError(f"pdfium lacks {name}")
    return ctypes.PYFUNCTYPE(result, *arguments)(address)


load_page = _call("FPDF_LoadPage", _HANDLE, _HANDLE, _INT)
close_page = _call("FPDF_ClosePage", None, _HANDLE)
load_text = _call("FPDFText_LoadPage", _HANDLE, _HANDLE)
close_text = _call("FPDFText_ClosePage", None, _HANDLE)
count_annotations = _call("FPDFPage_GetAnnotCount", _INT, _HANDLE)
annotation = _call("FPDFPage_GetAnnot", _HANDLE, _HANDLE, _INT)
annotation_kind = _call("FPDFAnnot_GetSubtype", _INT, _HANDLE)
close_annotation = _call("FPDFPage_CloseAnnot", None, _HANDLE)
count_objects = _call("FPDFPage_CountObjects", _INT, _HANDLE)
rotation = _call("FPDFPage_GetRotation", _INT, _HANDLE)
set_rotation = _call("FPDFPage_SetRotation", None, _HANDLE, _INT)
render_mode = _call("FPDFTextObj_GetTextRenderMode", _INT, _HANDLE)
object_type = _call("FPDFPageObj_GetType", _INT, _HANDLE)
char_angle = _call("FPDFText_GetCharAngle", ctypes.c_float, _HANDLE, _INT)
has_no_mapping = _call("FPDFText_HasUnicodeMapError", _INT, _HANDLE, _INT)
_unicode = _call("FPDFText_GetUnicode", ctypes.c_uint, _HANDLE, _INT)
count_chars = _call("FPDFText_CountChars", _INT, _HANDLE)
_get_text = _call("FPDFText_GetText", _INT, _HANDLE, _INT, _INT, _HANDLE)
_argument = _HANDLE.from_param
_char_at_text = _call("FPDFText_GetCharIndexFromTextIndex", _INT)
_text_object = _call("FPDFText_GetTextObject", _HANDLE)
_loose_box = _call("FPDFText_GetLooseCharBox", None)
_font_size = _call("FPDFText_GetFontSize", ctypes.c_double, _HANDLE, _INT)
_font_weight = _call("FPDFText_GetFontWeight", _INT, _HANDLE, _INT)
_matrix = _call("FPDFText_GetMatrix", _INT, _HANDLE, _INT, _HANDLE)
_fill = _call("FPDFText_GetFillColor", None)
_font_info = _call("FPDFText_GetFontInfo", _ULONG, _HANDLE, _INT, _HANDLE, _ULONG, _HANDLE)
_page_box = _call("FPDF_GetPageBoundingBox", _INT, _HANDLE, _HANDLE)
_page_object = _call("FPDFPage_GetObject", _HANDLE)
_count_in_form = _call("FPDFFormObj_CountObjects", _INT, _HANDLE)
_form_object = _call("FPDFFormObj_GetObject", _HANDLE, _HANDLE, _ULONG)
_bounds = _call("FPDFPageObj_GetBounds", None)
_object_fill = _call("FPDFPageObj_GetFillColor", _INT, _HANDLE, _HANDLE, _HANDLE, _HANDLE, _HANDLE)
_draw_mode = _call("FPDFPath_GetDrawMode", _INT, _HANDLE, _HANDLE, _HANDLE)
_count_segments = _call("FPDFPath_CountSegments", _INT, _HANDLE)
_segment = _call("FPDFPath_GetPathSegment", _HANDLE)
_segment_type = _call("FPDFPathSegment_GetType", _INT, _HANDLE)
_is_closing = _call("FPDFPathSegment_GetClose", _INT, _HANDLE)
_point = _call("FPDFPathSegment_GetPoint", None)
_object_matrix = _call("FPDFPageObj_GetMatrix", _INT, _HANDLE, _HANDLE)
_pixels = _call("FPDFImageObj_GetImagePixelSize", _INT, _HANDLE, _HANDLE, _HANDLE)

TEXT: int = raw.FPDF_PAGEOBJ_TEXT
PATH: int = raw.FPDF_PAGEOBJ_PATH
IMAGE: int = raw.FPDF_PAGEOBJ_IMAGE
SHADING: int = raw.FPDF_PAGEOBJ_SHADING
FORM: int = raw.FPDF_PAGEOBJ_FORM

_COLOUR = (ctypes.c_uint * 4)()
_COLOUR_AT = [ctypes.addressof(_COLOUR) + 4 * index for index in range(4)]
_FLOATS = (ctypes.c_float * 6)()
_FLOATS_AT = [ctypes.addressof(_FLOATS) + 4 * index for index in range(6)]
_INTS = (ctypes.c_int * 2)()
_INTS_AT = [ctypes.addressof(_INTS) + 4 * index for index in range(2)]
# Buffers for four values of each of many characters or objects, and the address of each value.
_MANY = 256
_ROOM = (ctypes.c_float * (4 * _MANY))()
_COLOURS = (ctypes.c_uint * (4 * _MANY))()
_ROOM_AT, _COLOURS_AT = (
    [
        [_argument(ctypes.addressof(room) + at + part) for at in range(0, 16 * _MANY, 16)]
        for part in (0, 4, 8, 12)
    ]
    for room in (_ROOM, _COLOURS)
)
_BLACK = (ctypes.c_uint * (4 * _MANY))(*(0, 0, 0, 255) * _MANY)
_NAME = ctypes.create_string_buffer(256)
_STRAIGHT = {raw.FPDF_SEGMENT_MOVETO, raw.FPDF_SEGMENT_LINETO}


def address(handle: Any) -> int:
    """The address of a handle of pypdfium2, which pypdfium2 still owns."""
    return ctypes.cast(handle, ctypes.c_void_p).value or 0


def text(text_page: int) -> tuple[str, int]:
    """All text of a page with CRLF line ends, and pdfium's count of its characters."""
    count = count_chars(text_page)
    if count <= 0:
        return "", 0
    buffer = np.zeros(count + 2, np.uint16)  # an array of ctypes is a new type for each length
    written = _get_text(text_page, 0, count, buffer.ctypes.data)
    return str(buffer[: max(written - 1, 0)].tobytes(), "utf-16-le", "surrogatepass"), count


def chars_at_text(text_page: int, indices: Iterable[int]) -> list[int]:
    """pdfium's indices of the characters at these UTF-16 indices of the text; -1 if unknown."""
    return list(map(_char_at_text, repeat(_argument(text_page)), indices))


def char_boxes(text_page: int, characters: Sequence[int]) -> list[Box]:
    """Boxes of these characters, with the height of the font; zeros if unknown."""
    handle = _argument(text_page)
    boxes: list[Box] = []
    for start in range(0, len(characters), _MANY):
        some = characters[start : start + _MANY]
        ctypes.memset(_ROOM, 0, 16 * len(some))
        _exhaust(map(_loose_box, repeat(handle), some, _ROOM_AT[0]))
        values = iter(_ROOM[: 4 * len(some)])
        boxes += zip(values, values, values, values, strict=True)
    return boxes


def letters(text_page: int, characters: Sequence[int]) -> str:
    """The text of these characters, one each; a zero-width space if a character has no text."""
    codes = map(_unicode, repeat(text_page), characters)
    return "".join(chr(code) if 31 < code < 0x110000 else "\u200b" for code in codes)


def _exhaust(calls: Iterable[Any]) -> None:
    deque(calls, maxlen=0)


def size(text_page: int, character: int) -> float:
    """Font size in points including the text's scaling; 0 if unknown."""
    known = _matrix(text_page, character, _FLOATS_AT[0])
    return float(_font_size(text_page, character)) * math.hypot(*_FLOATS[2:4]) if known else 0.0


def is_heavy(text_page: int, character: int) -> bool:
    """Whether the font's weight says bold; some programs state such weights for all fonts."""
    return bool(_font_weight(text_page, character) >= 600)


def font_name(text_page: int, character: int) -> bytes:
    """The name of the font in lower case; empty if unknown."""
    length = _font_info(text_page, character, ctypes.addressof(_NAME), len(_NAME), _INTS_AT[0])
    return _NAME.raw[: min(length, len(_NAME))].lower()


def char_styles(text_page: int, characters: Sequence[int]) -> list[CharStyle]:
    """How these characters are drawn; if unknown, opaque black with mode -1."""
    handle = _argument(text_page)
    found: list[CharStyle] = []
    for start in range(0, len(characters), _MANY):
        some = characters[start : start + _MANY]
        ctypes.memmove(_COLOURS, _BLACK, 16 * len(some))
        _exhaust(map(_fill, repeat(handle), some, *_COLOURS_AT))
        modes = map(render_mode, map(_text_object, repeat(handle), some))
        values = iter(_COLOURS[: 4 * len(some)])
        found += zip(modes, values, values, values, values, strict=True)
    return found


def page_box(page: int) -> Box:
    """Left, top, right, bottom of the visible part of the page."""
    _page_box(page, _FLOATS_AT[0])
    return _FLOATS[0], _FLOATS[1], _FLOATS[2], _FLOATS[3]


def page_objects(page: int, most: int) -> list[int]:
    """Handles of the first `most` objects of the page, without those inside form XObjects."""
    return some_objects(page, range(min(count_objects(page), most)))


def some_objects(page: int, indices: Iterable[int]) -> list[int]:
    """Handles of the objects of the page with these indices."""
    return list(map(_page_object, repeat(_argument(page)), indices))


def form_objects(form: int, most: int) -> list[int]:
    """Handles of the first objects inside a form XObject."""
    count = min(_count_in_form(form), most)
    return list(map(_form_object, repeat(form), range(count)))


def all_bounds(handles: Sequence[int]) -> Boxes:
    """Left, top, right, bottom of objects; inside a form XObject, in its coordinates."""
    boxes = np.zeros((len(handles), 4), np.float32)
    left, top, right, bottom = _ROOM_AT
    for start in range(0, len(handles), _MANY):
        some = handles[start : start + _MANY]
        ctypes.memset(_ROOM, 0, 16 * len(some))
        _exhaust(map(_bounds, map(_argument, some), left, bottom, right, top))
        boxes[start : start + _MANY] = np.frombuffer(
            memoryview(_ROOM), np.float32, 4 * len(some)
        ).reshape(-1, 4)
    return boxes


def object_colour(handle: int) -> tuple[int, int, int, int]:
    """Fill of an object: red, green, blue, opacity, from 0 to 255; opaque black if unknown."""
    known = _object_fill(handle, *_COLOUR_AT)
    return (_COLOUR[0], _COLOUR[1], _COLOUR[2], _COLOUR[3]) if known else (0, 0, 0, 255)


def matrix(handle: int) -> tuple[float, float, float, float, float, float]:
    """The transformation of an object; of a form XObject, from its coordinates to those around."""
    _object_matrix(handle, _FLOATS_AT[0])
    a, b, c, d, e, f = _FLOATS
    return a, b, c, d, e, f


def draws(path: int) -> tuple[bool, bool]:
    """Whether a path is filled, and whether it is stroked."""
    _draw_mode(path, _INTS_AT[0], _INTS_AT[1])
    return bool(_INTS[0]), bool(_INTS[1])


def pixels(image: int) -> int:
    """Number of pixels of an image, without decoding it."""
    return abs(_INTS[0] * _INTS[1]) if _pixels(image, *_INTS_AT) else 0


def without_curves(paths: Sequence[int]) -> Iterator[int]:
    """The paths that do not begin with a curve, as most that have curves do."""
    kinds = map(_segment_type, map(_segment, map(_argument, paths), repeat(1)))
    return compress(paths, map(raw.FPDF_SEGMENT_BEZIERTO.__ne__, kinds))


def path_edges(path: int, most: int) -> list[Box]:
    """Boxes of the segments of a path: left, top, right, bottom.

    Empty for a path with a curve, or with more than `most` segments.
    """
    count = _count_segments(path)
    segments = list(map(_segment, repeat(_argument(path)), range(count if count <= most else 0)))
    kinds = list(map(_segment_type, segments))
    if not _STRAIGHT.issuperset(kinds):
        return []
    a, b, c, d, e, f = matrix(path)
    edges = []
    previous = first = (0.0, 0.0)
    for segment, kind, (x, y) in zip(segments, kinds, _points(segments), strict=True):
        here = (a * x + c * y + e, b * x + d * y + f)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            first = here
        else:
            edges.append(_edge(previous, here))
        if _is_closing(segment):
            edges.append(_edge(here, first))
        previous = here
    return edges


def _points(segments: Sequence[int]) -> list[tuple[float, float]]:
    """End points of segments, in the coordinates of their path."""
    points: list[tuple[float, float]] = []
    for start in range(0, len(segments), _MANY):
        some = segments[start : start + _MANY]
        _exhaust(map(_point, map(_argument, some), _ROOM_AT[0], _ROOM_AT[1]))
        points += zip(_ROOM[: 4 * len(some) : 4], _ROOM[1 : 4 * len(some) : 4], strict=True)
    return points


def _edge(start: tuple[float, float], end: tuple[float, float]) -> Box:
    (x, y), (other_x, other_y) = start, end
    left, right = (x, other_x) if x <= other_x else (other_x, x)
    return (left, y, right, other_y) if y >= other_y else (left, other_y, right, y)
