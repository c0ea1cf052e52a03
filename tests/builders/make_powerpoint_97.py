"""PowerPoint 97 presentations, record by record ([MS-PPT])."""

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import starmap

from tests.builders.make_mail import Tree, ole

TITLE, BODY, OTHER, HALF_BODY = 0, 1, 4, 7
NOTES_BODY, DATE, NUMBER, FOOTER = 12, 7, 8, 9
WORD_ART, PICTURE, DESCRIPTION, TABLE = 0x00C0, 0x0104, 0x0381, 0x039F
_CONTAINER = 0xF


def record(kind: int, *parts: bytes, instance: int = 0, version: int = 0) -> bytes:
    """A record of these bytes."""
    data = b"".join(parts)
    return struct.pack("<HHI", instance << 4 | version, kind, len(data)) + data


def container(kind: int, *parts: bytes, instance: int = 0) -> bytes:
    """A record of records."""
    return record(kind, *parts, instance=instance, version=_CONTAINER)


def text(
    characters: str,
    kind: int = OTHER,
    *,
    levels: Sequence[tuple[int, int, bool | None]] = (),
    placed: Sequence[tuple[int, int]] = (),
    filled: Sequence[int] = (),
    links: Sequence[tuple[int, int, int]] = (),
) -> bytes:
    """A text; `levels`: characters, level and bullet of paragraphs; `filled`: places of stars.

    `placed`: characters, and by how much they are raised, in percent; `links`: where they begin
    and end, and their keys.
    """
    formats = b""
    for count, level, bullet in levels:
        # Bullet and tab stops, whose values have different lengths.
        masks = 0x100000 | (bullet is not None)
        formats += struct.pack("<IHI", count, level, masks)
        formats += struct.pack("<H", bullet) if bullet is not None else b""
        formats += struct.pack("<HHH", 1, 576, 0)
    if placed and not levels:
        formats += struct.pack("<IHI", len(characters) + 1, 0, 0)
    for count, percent in placed:
        # Bold, a font, a size, a colour; then the position.
        formats += struct.pack("<IIHHHI", count, 0x0F0001, 1, 0, 24, 0)
        formats += struct.pack("<h", percent)
    return (
        record(0x0F9F, struct.pack("<I", kind))
        + record(0x0FA0, characters.encode("utf-16-le"))
        + (record(0x0FA1, formats) if formats else b"")
        + b"".join(record(0x0FD8, struct.pack("<I", place)) for place in filled)
        + b"".join(
            container(0x0FF2, record(0x0FF3, struct.pack("<IIQ", 0, key, 4)))
            + record(0x0FDF, struct.pack("<II", start, end))
            for start, end, key in links
        )
    )


def shape(
    content: bytes | int | None = None,
    *,
    at: tuple[int, int] = (0, 0),
    inside: bool = False,
    size: tuple[int, int] = (9, 9),
    placeholder: int = 0,
    deleted: bool = False,
    embedded: int = 0,
    options: Mapping[int, int | str] | None = None,
) -> bytes:
    """A shape with a text, or the number of one in the outline; `at`: top and left.

    `size`: height and width.
    `embedded`: the number of its OLE object, from one.
    """
    (top, left), (height, width) = at, size
    parts = [record(0xF00A, struct.pack("<II", 1, 8 if deleted else 0), version=2)]
    if options:
        head = tail = b""
        for key, value in options.items():
            long = f"{value}\0".encode("utf-16-le") if isinstance(value, str) else b""
            number = len(long) if isinstance(value, str) else value
            head += struct.pack("<HI", key | (0x8000 if long else 0), number)
            tail += long
        parts.append(record(0xF00B, head, tail, instance=len(options), version=3))
    if inside:
        parts.append(record(0xF00F, struct.pack("<iiii", left, top, left + width, top + height)))
    else:
        parts.append(record(0xF010, struct.pack("<hhhh", top, left, left + width, top + height)))
    if placeholder:
        parts.append(container(0xF011, record(0x0BC3, struct.pack("<iBBH", 0, placeholder, 0, 0))))
    if embedded:
        parts.append(container(0xF011, record(0x0BC1, struct.pack("<I", embedded))))
    if content is not None:
        if isinstance(content, int):
            content = record(0x0F9E, struct.pack("<i", content))
        parts.append(container(0xF00D, content))
    return container(0xF004, *parts)


def group(*shapes: bytes, own: bytes = b"") -> bytes:
    """Shapes that belong together; `own`: the shape that stands for all of them."""
    return container(0xF003, own or shape(), *shapes)


def drawing(*shapes: bytes) -> bytes:
    """The shapes of a slide."""
    return container(0x040C, container(0xF002, group(*shapes)))


def margins(*, footer: str, date: str = "", instance: int = 0) -> bytes:
    """Footer and fixed date of a slide, or (`instance` 3) of all."""
    flags = 0x20 | (0x4 if date else 0)
    strings = [(0, date), (1, "of notes"), (2, footer)]
    return container(
        0x0FD9,
        record(0x0FDA, struct.pack("<HH", 0, flags)),
        *(record(0x0FBA, value.encode("utf-16-le"), instance=key) for key, value in strings),
        instance=instance,
    )


def comment(author: str, words: str) -> bytes:
    """A comment of a slide."""
    strings = [
        record(0x0FBA, value.encode("utf-16-le"), instance=key)
        for key, value in enumerate((author, words))
    ]
    data = record(0x138B, container(0x2EE0, *strings))
    return container(0x1388, container(0x138A, record(0x0FBA, b"_\0"), data))


@dataclass(kw_only=True)
class Slide:
    """A slide of these shapes; `more`: other records of it."""

    shapes: Sequence[bytes] = ()
    outline: bytes = b""
    notes: Sequence[bytes] = ()
    hidden: bool = False
    more: Sequence[bytes] = field(default=())


def presentation(
    *slides: Slide,
    before: Sequence[Slide] = (),
    document: Sequence[bytes] = (),
    embedded: Sequence[bytes] = (),
    addresses: Sequence[str] = (),
    folder: str = "",
    circular: bool = False,
) -> bytes:
    """The file; `before`: slides of an earlier edit that were replaced, `embedded`: OLE objects.

    `addresses`: of links, whose keys count from one.
    """
    stream, last = b"", 0
    for edition in filter(None, (before, slides)):
        linked = b"".join(starmap(_link, enumerate(addresses, start=1)))
        stream, last = _saved(stream, edition, document, embedded, linked, last, circular=circular)
    user = record(0x0FF6, struct.pack("<III", 20, 0xE391C05F, last), bytes(8))
    streams: Tree = {"Current User": user, "PowerPoint Document": stream.ljust(5000, b"\0")}
    if folder:
        return ole({"PowerPoint Document": bytes(5000), "Current User": user, folder: streams})
    return ole(streams)


def _link(key: int, address: str) -> bytes:
    texts = ("shown", address)
    strings = (record(0x0FBA, t.encode("utf-16-le"), instance=n) for n, t in enumerate(texts))
    return container(0x0FD7, record(0x0FD3, struct.pack("<I", key)), *strings)


def _saved(
    stream: bytes,
    slides: Sequence[Slide],
    document: Sequence[bytes],
    embedded: Sequence[bytes],
    linked: bytes,
    last: int,
    *,
    circular: bool,
) -> tuple[bytes, int]:
    """The stream with one more edit, and where that begins."""
    places: list[int] = []

    def keep(data: bytes) -> int:
        nonlocal stream
        places.append(len(stream))
        stream += data
        return len(places)  # keys count from one

    lists = [b"", b""]
    for number, slide in enumerate(slides):
        notes_key = 0x200 + number if slide.notes else 0
        atom = record(0x03EF, bytes(12), struct.pack("<IIHH", 0, notes_key, 0, 0))
        show = record(0x03F9, bytes(10), struct.pack("<HI", 4 if slide.hidden else 0, 0))
        key = keep(container(0x03EE, atom, show, drawing(*slide.shapes), *slide.more))
        lists[0] += record(0x03F3, struct.pack("<IIIII", key, 0, 0, 0x100 + number, 0))
        lists[0] += slide.outline
        if slide.notes:
            key = keep(container(0x03F0, record(0x03F1, bytes(8)), drawing(*slide.notes)))
            lists[1] += record(0x03F3, struct.pack("<IIIII", key, 0, 0, notes_key, 0))
    objects = linked
    for number, data in enumerate(embedded, start=1):
        packed = struct.pack("<I", len(data)) + zlib.compress(data)
        key = keep(record(0x1011, packed, instance=1))
        objects += container(0x0FCC, record(0x0FC3, struct.pack("<8xI4xII", number, key, 0)))
    key = keep(
        container(
            0x03E8,
            container(0x0409, objects),
            *document,
            container(0x0FF0, lists[0], instance=0),
            container(0x0FF0, lists[1], instance=2),
        )
    )
    directory = len(stream)
    head = struct.pack("<I", len(places) << 20 | 1)
    stream += record(0x1772, head, struct.pack(f"<{len(places)}I", *places))
    edit = len(stream)
    before = edit if circular else last
    stream += record(0x0FF5, bytes(8), struct.pack("<IIII", before, directory, key, 0), bytes(4))
    return stream, edit
