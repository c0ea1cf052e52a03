"""Builders of small files for tests: each returns the bytes of one file."""

import io
import struct
import zipfile
from collections.abc import Sequence

from pypdf import PdfWriter

_PDF_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
_IMAGE = (
    b"<< /Type /XObject /Subtype /Image /Width 2 /Height 2 /ColorSpace /DeviceGray"
    b" /BitsPerComponent 8 /Length 4 >>\nstream\n\x00\xff\xff\x00\nendstream"
)
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def pdf(
    pages: Sequence[str | None] = ("Hello from a PDF.",),
    *,
    title: str | None = None,
    user_password: str | None = None,
    owner_password: str | None = None,
) -> bytes:
    """A PDF with one line of Latin text per line of each page; None makes a page of one image."""
    data = _pdf_of([_page_content(page) for page in pages])
    if title is None and user_password is None and owner_password is None:
        return data
    writer = PdfWriter(clone_from=io.BytesIO(data))
    if title is not None:
        writer.add_metadata({"/Title": title})
    if user_password is not None or owner_password is not None:
        writer.encrypt(user_password or "", owner_password, algorithm="AES-256")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def scanned_pdf(pages: int = 1) -> bytes:
    """A PDF of images only: there is nothing to read without OCR."""
    return pdf([None] * pages)


def pdf_with_field(value: str) -> bytes:
    """A PDF with a form whose one text field is filled in."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [5 0 R] /DR << /Font << /F 4 0 R >>"
        b" >> /DA (/F 12 Tf) >> >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 6 0 R /Annots [5 0 R]"
        b" /Resources << /Font << /F 4 0 R >> >> >>",
        _PDF_FONT,
        b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /F 4 /DA (/F 12 Tf) /P 3 0 R"
        b" /Rect [60 600 400 630] /V (" + _escape(value) + b") /AP << /N 7 0 R >> >>",
        _stream(b"BT /F 12 Tf 60 700 Td (Name:) Tj ET"),
        _stream(
            b"/Tx BMC BT /F 12 Tf 2 8 Td (" + _escape(value) + b") Tj ET EMC",
            b"/Type /XObject /Subtype /Form /BBox [0 0 340 30] /Resources << /Font << /F 4 0 R >>"
            b" >> ",
        ),
    ]
    return _assemble(objects)


def docx(
    paragraphs: Sequence[str] = ("Hello from a document.",),
    *,
    heading: str | None = None,
    title: str | None = None,
    body: str = "",
    extra: dict[str, bytes] | None = None,
) -> bytes:
    """A Word document; `body` is WordprocessingML put after the paragraphs, `extra` more parts."""
    content = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    if heading is not None:
        style = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>'
        content = f"<w:p>{style}<w:r><w:t>{heading}</w:t></w:r></w:p>{content}"
    document = (
        f'<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="{_WORD}"'
        f' xmlns:r="{_OFFICE}"><w:body>{content}{body}</w:body></w:document>'
    )
    parts = {
        "[Content_Types].xml": _content_types(),
        "_rels/.rels": _relations({"rId1": ("officeDocument", "word/document.xml")}),
        "word/document.xml": document.encode(),
        "word/styles.xml": _styles(),
        "word/_rels/document.xml.rels": _relations({"rId1": ("styles", "styles.xml")}),
    }
    if title is not None:
        parts["docProps/core.xml"] = (
            f'<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties"'
            f' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title>'
            "</cp:coreProperties>"
        ).encode()
    return zipped({**parts, **(extra or {})})


def docx_relation(kind: str, target: str) -> bytes:
    """The part `word/_rels/document.xml.rels` with one more relation, id `rId9`."""
    return _relations({"rId1": ("styles", "styles.xml"), "rId9": (kind, target)})


def docx_bomb(size: int) -> bytes:
    """A small DOCX whose document part inflates to about `size` bytes."""
    buffer = io.BytesIO(docx())
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        block = b" " * (1024 * 1024)
        with archive.open("word/footnotes.xml", "w", force_zip64=True) as part:
            for _ in range(size // len(block)):
                part.write(block)
    return buffer.getvalue()


def encrypted_office() -> bytes:
    """What Office makes of a document with a password: an OLE file with an encrypted package."""
    sector = 512
    free, end, fat = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    header = struct.pack(
        "<8s16x5H6x10I",
        *(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6),
        *(0, 1, 1, 0, 4096, end, 0, end, 0, 0),
    )
    header += struct.pack("<I", free) * 108
    table = struct.pack("<2I", fat, end) + struct.pack("<I", free) * 126
    entries = [
        _ole_entry("Root Entry", kind=5, child=1),
        _ole_entry("EncryptedPackage", kind=2),
        bytes(128),
        bytes(128),
    ]
    return header.ljust(sector, b"\0") + table + b"".join(entries)


def _ole_entry(name: str, *, kind: int, child: int = 0xFFFFFFFF) -> bytes:
    data = name.encode("utf-16-le") + b"\0\0"
    none = 0xFFFFFFFF
    return struct.pack(
        "<64sHBBIII36xIQ", data, len(data), kind, 1, none, none, child, 0xFFFFFFFE, 0
    )


def zipped(members: dict[str, bytes]) -> bytes:
    """A ZIP archive with these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def html(body: str, *, title: str = "A page", head: str = "") -> bytes:
    """A small web page in UTF-8."""
    return (
        f"<!DOCTYPE html><html lang='en'><head><title>{title}</title>{head}</head>"
        f"<body>{body}</body></html>"
    ).encode()


def png() -> bytes:
    """The start of a PNG image, enough to be recognised."""
    return b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(64)


def _page_content(page: str | None) -> bytes:
    if page is None:
        return b"q 500 0 0 700 50 50 cm /I Do Q"
    lines = b"".join(b"(" + _escape(line) + b") Tj 0 -16 Td " for line in page.split("\n"))
    return b"BT /F 12 Tf 60 760 Td " + lines + b"ET"


def _escape(text: str) -> bytes:
    data = text.encode("cp1252")
    return data.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def _pdf_of(contents: Sequence[bytes]) -> bytes:
    first = 5  # number of the first page's object; its content follows
    kids = b" ".join(b"%d 0 R" % (first + 2 * index) for index in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [" + kids + b"] /Count %d >>" % len(contents),
        _PDF_FONT,
        _IMAGE,
    ]
    for index, content in enumerate(contents):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R"
            b" /Resources << /Font << /F 3 0 R >> /XObject << /I 4 0 R >> >> >>"
            % (first + 2 * index + 1)
        )
        objects.append(_stream(content))
    return _assemble(objects)


def _stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<< " + entries + b"/Length %d >>\nstream\n%b\nendstream" % (len(content), content)


def _assemble(objects: Sequence[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.7\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (len(objects) + 1)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


def _content_types() -> bytes:
    word = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    return (
        f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels"'
        ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{word}.document.main+xml"/>'
        f'<Override PartName="/word/styles.xml" ContentType="{word}.styles+xml"/></Types>'
    ).encode()


def _relations(relations: dict[str, tuple[str, str]]) -> bytes:
    rows = "".join(
        f'<Relationship Id="{key}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for key, (kind, target) in relations.items()
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{rows}</Relationships>'.encode()


def _styles() -> bytes:
    return (
        f'<w:styles xmlns:w="{_WORD}"><w:style w:type="paragraph" w:styleId="Heading1">'
        '<w:name w:val="heading 1"/></w:style></w:styles>'
    ).encode()
