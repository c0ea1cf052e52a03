"""Builders of PDFs that need more than text: places, sizes, rules, layers, annotations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_FONTS = {"F": b"Helvetica", "B": b"Helvetica-Bold"}
_WIDTH, _HEIGHT = 600, 800


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A page: its content, entries of its dictionary, its annotations as dictionaries."""

    content: bytes = b""
    entries: bytes = b""
    annotations: Sequence[bytes] = ()


def at(
    x: float, y: float, text: str, *, size: float = 12, font: str = "F", before: str = ""
) -> bytes:
    """A line of text; `before` is operators such as `3 Tr` or `1 g`."""
    return b"q BT %s /%s %g Tf 1 0 0 1 %g %g Tm (%s) Tj ET Q\n" % (
        before.encode(),
        font.encode(),
        size,
        x,
        y,
        _escaped(text),
    )


def lines(x: float, y: float, *texts: str, size: float = 12, font: str = "F") -> bytes:
    """Lines below each other."""
    return b"".join(
        at(x, y - 1.2 * size * index, text, size=size, font=font)
        for index, text in enumerate(texts)
    )


def rule(x0: float, y0: float, x1: float, y1: float) -> bytes:
    """A thin line."""
    return b"%g %g m %g %g l S\n" % (x0, y0, x1, y1)


def area(x: float, y: float, width: float, height: float, *, grey: float) -> bytes:
    """A filled rectangle."""
    return b"q %g g %g %g %g %g re f Q\n" % (grey, x, y, width, height)


def image(x: float, y: float, width: float, height: float) -> bytes:
    """A picture of 2 by 2 pixels, stretched."""
    return b"q %g 0 0 %g %g %g cm /I Do Q\n" % (width, height, x, y)


def grid(xs: Sequence[float], ys: Sequence[float]) -> bytes:
    """Ruled lines through these places."""
    level = b"".join(rule(min(xs), y, max(xs), y) for y in ys)
    return level + b"".join(rule(x, min(ys), x, max(ys)) for x in xs)


def document(
    *sheets: Sheet | bytes,
    catalog: bytes = b"",
    info: bytes = b"",
    extra: Sequence[bytes] = (),
    fonts: Mapping[str, bytes] | None = None,
) -> bytes:
    """A PDF of 600 by 800 points. `extra` become the objects from 11 on."""
    pages = [sheet if isinstance(sheet, Sheet) else Sheet(content=sheet) for sheet in sheets]
    base = [
        b"<< /Type /Catalog /Pages 2 0 R " + catalog + b" >>",
        b"",
        *(
            b"<< /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding /WinAnsiEncoding >>" % name
            for name in _FONTS.values()
        ),
        b"<< /Type /XObject /Subtype /Image /Width 2 /Height 2 /ColorSpace /DeviceGray"
        b" /BitsPerComponent 8 /Length 4 >>\nstream\n\x00\xff\xff\x00\nendstream",
        b"<< " + info + b" >>",
        *([b"null"] * 4),
    ]
    objects = [*base, *extra]
    named = {"F": b"3 0 R", "B": b"4 0 R", **(fonts or {})}
    resources = b"/Font << %s >> /XObject << /I 5 0 R >>" % b" ".join(
        b"/%s %s" % (name.encode(), reference) for name, reference in named.items()
    )
    kids = []
    for page in pages:
        objects.append(
            b"<< /Length %d >>\nstream\n%b\nendstream" % (len(page.content), page.content)
        )
        content = len(objects)
        annotations = []
        for annotation in page.annotations:
            objects.append(b"<< /Type /Annot " + annotation + b" >>")
            annotations.append(b"%d 0 R" % len(objects))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents %d 0 R"
            b" /Resources << %s >> /Annots [%s] %s >>"
            % (_WIDTH, _HEIGHT, content, resources, b" ".join(annotations), page.entries)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    return _assembled(objects)


def embedded_file(data: bytes, name: str) -> list[bytes]:
    """A file and its description, as the first two of `extra`."""
    return [
        b"<< /Type /EmbeddedFile /Length %d >>\nstream\n%b\nendstream" % (len(data), data),
        b"<< /Type /Filespec /F (%s) /UF (%s) /EF << /F 11 0 R >> >>"
        % (name.encode(), name.encode()),
    ]


def attached(data: bytes, name: str, *sheets: Sheet) -> bytes:
    """A PDF with one file attached."""
    names = b"/Names << /EmbeddedFiles << /Names [(%s) 12 0 R] >> >>" % name.encode()
    return document(*sheets, catalog=names, extra=embedded_file(data, name))


def _assembled(objects: Sequence[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.7\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R /Info 6 0 R >>\n" % (len(objects) + 1)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


def _escaped(text: str) -> bytes:
    data = text.encode("cp1252")
    return data.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
