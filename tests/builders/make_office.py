"""Builders of small Office files for tests: each returns the bytes of one file."""

import struct
from collections.abc import Mapping, Sequence

from tests.builders import make_files
from tests.builders.make_mail import Tree, ole

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_STRICT = "http://purl.oclc.org/ooxml/officeDocument/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_STRICT_WORD = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"
_PRESENTATION = "http://schemas.openxmlformats.org/presentationml/2006/main"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_PREFIXES = {
    "w": _WORD,
    "r": _OFFICE,
    "a": f"{_DRAWING}/main",
    "p": _PRESENTATION,
    "wp": f"{_DRAWING}/wordprocessingDrawing",
    "c": f"{_DRAWING}/chart",
    "dgm": f"{_DRAWING}/diagram",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    "v": "urn:schemas-microsoft-com:vml",
}
_ODF_PREFIXES = {
    **{name: f"{_ODF}:{name}:1.0" for name in ("office", "text", "table", "style", "meta")},
    "draw": f"{_ODF}:drawing:1.0",
    "fo": f"{_ODF}:xsl-fo-compatible:1.0",
    "svg": f"{_ODF}:svg-compatible:1.0",
    "presentation": f"{_ODF}:presentation:1.0",
    "dc": "http://purl.org/dc/elements/1.1/",
    "xlink": "http://www.w3.org/1999/xlink",
}

Related = Mapping[str, tuple[str, bytes | str]]
"""Relation id to its kind and the content of the part; a text that begins with `http` is an
address, other texts are XML without its root's namespaces."""


def xml(text: str) -> bytes:
    """An XML part: the prefixes of Office are declared in its first element."""
    name, _, rest = text.partition(">")
    closing = "/" if name.endswith("/") else ""
    spaces = "".join(f' xmlns:{prefix}="{uri}"' for prefix, uri in _PREFIXES.items())
    return f"{name.removesuffix('/')}{spaces}{closing}>{rest}".encode()


def word(body: str, related: Related | None = None, *, strict: bool = False) -> bytes:
    """A Word document with this body, and parts that it refers to."""
    parts = _package("word/document.xml")
    parts["word/document.xml"] = xml(f"<w:document><w:body>{body}</w:body></w:document>")
    parts |= _related("word/document.xml", related or {})
    if strict:
        parts = {
            name: data.replace(_OFFICE.encode(), _STRICT.encode()).replace(
                _WORD.encode(), _STRICT_WORD.encode()
            )
            for name, data in parts.items()
        }
    return make_files.zipped(parts)


def paragraph(text: str, *, properties: str = "", run: str = "") -> str:
    """A Word paragraph of one run; `properties` and `run` are what its pPr and rPr hold."""
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:rPr>{run}</w:rPr><w:t>{text}</w:t></w:r></w:p>"


def presentation(
    *slides: str, related: Sequence[Related] = (), main: Related | None = None
) -> bytes:
    """A presentation; a slide is its shapes, or a whole `<p:sld …>`. `related`: by slide."""
    parts = _package("ppt/presentation.xml")
    relations: dict[str, tuple[str, bytes | str]] = dict(main or {})
    ids = []
    for index, shapes in enumerate(slides):
        slide = shapes
        if not shapes.startswith("<p:sld"):
            slide = f"<p:sld><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        relations[f"s{index}"] = ("slide", slide)
        ids.append(f'<p:sldId r:id="s{index}"/>')
    parts["ppt/presentation.xml"] = xml(
        f"<p:presentation><p:sldIdLst>{''.join(ids)}</p:sldIdLst></p:presentation>"
    )
    parts |= _related("ppt/presentation.xml", relations)
    for index, mine in enumerate(related):
        parts |= _related(f"ppt/s{index}.xml", mine)
    return make_files.zipped(parts)


def shape(*lines: str, at: tuple[int, int] | None = None, kind: str | None = None) -> str:
    """A shape with a paragraph for each line; `at`: left and top in cm; `kind` of placeholder."""
    placeholder = f'<p:ph type="{kind}"/>' if kind else ""
    place = ""
    if at is not None:
        place = f'<a:xfrm><a:off x="{at[0] * 360000}" y="{at[1] * 360000}"/></a:xfrm>'
    paragraphs = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in lines)
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="n"/><p:nvPr>{placeholder}</p:nvPr></p:nvSpPr>'
        f"<p:spPr>{place}</p:spPr><p:txBody>{paragraphs}</p:txBody></p:sp>"
    )


def open_document(
    content: str,
    *,
    kind: str = "text",
    styles: str = "",
    masters: str = "",
    meta: str = "",
    extra: Mapping[str, bytes] | None = None,
) -> bytes:
    """An OpenDocument package; `kind` is `text` or `presentation`."""
    return make_files.zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}".encode(),
            "content.xml": _odf(
                "document-content",
                f"<office:automatic-styles>{styles}</office:automatic-styles>"
                f"<office:body><office:{kind}>{content}</office:{kind}></office:body>",
            ),
            "styles.xml": _odf(
                "document-styles", f"<office:master-styles>{masters}</office:master-styles>"
            ),
            "meta.xml": _odf("document-meta", f"<office:meta>{meta}</office:meta>"),
            **(extra or {}),
        }
    )


def flat_open_document(content: str, *, kind: str = "text") -> bytes:
    """An OpenDocument in one XML file."""
    return _odf(
        "document",
        f"<office:body><office:{kind}>{content}</office:{kind}></office:body>",
        f' office:mimetype="application/vnd.oasis.opendocument.{kind}"',
    )


def flat_package(parts: Mapping[str, bytes]) -> bytes:
    """An Office package in one XML file (Flat OPC)."""
    body = "".join(
        f'<pkg:part pkg:name="/{name}"><pkg:xmlData>{data.decode()}</pkg:xmlData></pkg:part>'
        for name, data in parts.items()
    )
    space = "http://schemas.microsoft.com/office/2006/xmlPackage"
    return f'<?xml version="1.0"?><pkg:package xmlns:pkg="{space}">{body}</pkg:package>'.encode()


def doc(
    text: str,
    *,
    encrypted: bool = False,
    summary: bytes | None = None,
    objects: Mapping[str, Tree] | None = None,
) -> bytes:
    """A Word 97 document of one piece of text, `\\r` after each paragraph; `objects`: storages."""
    data = text.encode("cp1252")
    flags = 0x0200 | (0x0100 if encrypted else 0)
    header = struct.pack("<HHHHHH20x", 0xA5EC, 0xC1, 0, 0x0409, 0, flags)
    words = struct.pack("<H28x", 14)
    longs = struct.pack("<H3iI72x", 22, 0, 0, 0, len(data))
    pairs = bytearray(struct.pack("<H744x", 93))
    piece = struct.pack("<iiHIH", 0, len(data), 0, 0x40000000 | (0x800 * 2), 0)
    table = b"\x02" + struct.pack("<I", len(piece)) + piece
    struct.pack_into("<II", pairs, 2 + 33 * 8, 0, len(table))
    streams: Tree = {  # the shorter name first, as the format wants it
        "1Table": table,
        "WordDocument": (header + words + longs + bytes(pairs)).ljust(0x800, b"\0") + data,
    }
    if summary is not None:
        streams["\x05SummaryInformation"] = summary
    if objects:
        streams["ObjectPool"] = dict(objects)
    return ole(streams)


def summary_information(properties: Mapping[int, bytes], *, count: int | None = None) -> bytes:
    """The stream of an OLE file's properties; `count` is what it claims to hold."""
    offset = 8 + 8 * len(properties)
    index, values = b"", b""
    for key, value in properties.items():
        index += struct.pack("<II", key, offset + len(values))
        values += value
    section = struct.pack("<II", 0, len(properties) if count is None else count) + index + values
    return struct.pack("<HH4x16xI16xI", 0xFFFE, 0, 1, 48) + section


def ppt(*, encrypted: bool) -> bytes:
    """The streams that tell a PowerPoint 97 file; there are no slides in it."""
    token = 0xF3D1C4DF if encrypted else 0xE391C05F
    user = struct.pack("<HHIIII", 0, 0x0FF6, 20, 20, token, 0)
    return ole({"Current User": user, "PowerPoint Document": bytes(64)})


def packaged_file(name: str, data: bytes) -> bytes:
    """An embedded object of the kind Package, as Office keeps any file that is dropped in."""
    return ole({"\x01Ole10Native": packaged(name, data)})


def packaged(name: str, data: bytes) -> bytes:
    """The stream of such an object."""
    label = name.encode() + b"\0"
    body = b"\x02\0" + label + b"C:\\" + label + b"\0\0\x03\0"
    body += struct.pack("<I", len(label)) + label + struct.pack("<I", len(data)) + data
    return struct.pack("<I", len(body)) + body


def _odf(root: str, content: str, attributes: str = "") -> bytes:
    spaces = "".join(f' xmlns:{prefix}="{uri}"' for prefix, uri in _ODF_PREFIXES.items())
    start = f'<?xml version="1.0" encoding="UTF-8"?><office:{root}{spaces}{attributes}>'
    return f"{start}{content}</office:{root}>".encode()


def _package(main: str) -> dict[str, bytes]:
    relation = f'<Relationship Id="r1" Type="{_OFFICE}/officeDocument" Target="{main}"/>'
    return {
        "[Content_Types].xml": b"<Types/>",
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}">{relation}</Relationships>'.encode(),
    }


def _related(part: str, related: Related) -> dict[str, bytes]:
    """The parts beside `part`, named by their relation's id, and the relations."""
    folder, _, name = part.rpartition("/")
    parts: dict[str, bytes] = {}
    rows = ""
    for key, (kind, content) in related.items():
        target = key if "." in key else f"{key}.xml"
        mode = ""
        if isinstance(content, str) and content.startswith("http"):
            target, mode = content, ' TargetMode="External"'
        elif content:
            parts[f"{folder}/{target}"] = content if isinstance(content, bytes) else xml(content)
        rows += f'<Relationship Id="{key}" Type="{_OFFICE}/{kind}" Target="{target}"{mode}/>'
    relations = f'<Relationships xmlns="{_PACKAGE}">{rows}</Relationships>'
    return {**parts, f"{folder}/_rels/{name}.rels": relations.encode()}
