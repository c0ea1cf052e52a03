"""Builders of messages, mailboxes, Outlook items and e-books: each returns the bytes of a file."""

import struct
from collections.abc import Sequence
from typing import Any, BinaryIO

from ingest.errors import Permanent
from tests.builders.make_files import zipped

_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_SECTOR, _MINI, _MINI_CUTOFF = 512, 64, 4096


class Kept:
    """A member sink that remembers; `full` refuses every file."""

    def __init__(self, *, full: bool = False) -> None:
        self.files: dict[str, bytes] = {}
        self.refused: dict[str, str] = {}
        self._full = full

    def add(self, path: str, data: bytes | BinaryIO) -> str:
        if self._full:
            raise Permanent("too many", code="archive_unsafe")
        self.files[path] = data if isinstance(data, bytes) else data.read()
        return path

    def refuse(self, path: str, *, code: str, message: str) -> None:
        self.refused[path] = code

    @property
    def is_empty(self) -> bool:
        return not self.files and not self.refused


def eml(body: bytes | str, *, headers: Sequence[str] = (), subject: str = "Hello") -> bytes:
    """A message from Ann to Bob; `headers` are lines put after the usual ones."""
    lines = [
        "From: Ann <ann@example.com>",
        "To: bob@example.com",
        "Date: Fri, 23 Dec 2022 12:08:48 -0600",
        f"Subject: {subject}",
        *headers,
    ]
    content = body.encode() if isinstance(body, str) else body
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + content


def multipart(kind: str, *parts: bytes | str, subject: str = "Hello") -> bytes:
    """A message of several parts; each part starts with its own headers."""
    return eml(
        boundaried(kind, *parts),
        headers=[f'Content-Type: multipart/{kind}; boundary="{kind}"'],
        subject=subject,
    )


def nested(kind: str, *parts: bytes | str) -> bytes:
    """A part that has parts."""
    head = f'Content-Type: multipart/{kind}; boundary="{kind}"\r\n\r\n'
    return head.encode() + boundaried(kind, *parts)


def deep(levels: int) -> bytes:
    """A message whose text lies that many parts inside of one another."""
    part = b"Content-Type: text/plain\r\n\r\ncore"
    for level in range(levels):
        mark = f"b{level}"
        head = f'Content-Type: multipart/mixed; boundary="{mark}"\r\n\r\n'
        part = head.encode() + boundaried(mark, part)
    return b"From: a@b\r\nTo: c@d\r\nSubject: x\r\n" + part


def boundaried(boundary: str, *parts: bytes | str) -> bytes:
    """Parts between their boundaries."""
    mark = b"--" + boundary.encode()
    contents = [part.encode() if isinstance(part, str) else part for part in parts]
    return (
        b"".join(b"\r\n" + mark + b"\r\n" + part for part in contents) + b"\r\n" + mark + b"--\r\n"
    )


def mbox(*messages: bytes) -> bytes:
    """A mailbox; lines of the messages that look like envelopes are quoted."""
    lines = [line for message in messages for line in _mailed(message)]
    return b"\n".join(lines)


def _mailed(message: bytes) -> list[bytes]:
    quoted = [
        b">" + line if line.lstrip(b">").startswith(b"From ") else line
        for line in message.replace(b"\r\n", b"\n").split(b"\n")
    ]
    return [b"From ann@example.com Fri Dec 23 12:08:48 2022", *quoted, b""]


Tree = dict[str, "bytes | Tree"]
"""Streams and folders of an OLE container."""


def msg_item(
    texts: dict[int, str],
    *,
    kind: str = "message",
    numbers: dict[int, int] | None = None,
    times: dict[int, int] | None = None,
    attachments: Sequence[Tree] = (),
    recipients: Sequence[Tree] = (),
    charset: str | None = None,
) -> Tree:
    """A folder of an Outlook item (a file, if given to ole()).

    `kind`: `message`, `embedded` or `part`. Properties by number; `times` in Windows' ticks.
    `charset` makes strings of bytes, else they are UTF-16.
    """
    table = [struct.pack("<HHIQ", 0x0003, key, 6, value) for key, value in (numbers or {}).items()]
    table += [struct.pack("<HHIQ", 0x0040, key, 6, value) for key, value in (times or {}).items()]
    head = bytes({"message": 32, "embedded": 24, "part": 8}[kind])
    tree: Tree = {"__properties_version1.0": head + b"".join(table)}
    for key, value in texts.items():
        suffix = "001E" if charset else "001F"
        tree[f"__substg1.0_{key:04X}{suffix}"] = value.encode(charset or "utf-16-le")
    tree |= {f"__attach_version1.0_#{at:08X}": part for at, part in enumerate(attachments)}
    tree |= {f"__recip_version1.0_#{at:08X}": part for at, part in enumerate(recipients)}
    return tree


def msg_attachment(name: str, data: "bytes | Tree", *, media_type: str = "") -> Tree:
    """A file, or an embedded item, as part of an Outlook item."""
    tree = msg_item({0x3707: name, 0x370E: media_type}, kind="part")
    suffix = "0102" if isinstance(data, bytes) else "000D"
    return {**tree, f"__substg1.0_3701{suffix}": data}


def ole(tree: Tree) -> bytes:
    """An OLE container."""
    entries: list[list[Any]] = [["Root Entry", 5, b"", _FREE, _FREE]]
    _flatten(tree, 0, entries)
    small, starts = b"", dict[int, int]()
    mini_table: list[int] = []
    for index, (_, kind, data, _, _) in enumerate(entries):
        if kind == 2 and 0 < len(data) < _MINI_CUTOFF:
            starts[index] = len(mini_table)
            count = -(-len(data) // _MINI)
            mini_table += [*range(len(mini_table) + 1, len(mini_table) + count), _END]
            small += data.ljust(count * _MINI, b"\0")
    streams = {
        index: entry[2] for index, entry in enumerate(entries) if len(entry[2]) >= _MINI_CUTOFF
    }
    streams[0] = small
    table: list[int] = []
    body = b""
    for index, data in streams.items():
        starts[index] = len(table) if data else _END
        body += _chained(data, table)
    mini_start = len(table) if mini_table else _END
    body += _chained(struct.pack(f"<{len(mini_table)}I", *mini_table), table, fill=b"\xff")
    directory_start = len(table)
    sizes = [len(small) if index == 0 else len(entry[2]) for index, entry in enumerate(entries)]
    body += _chained(
        b"".join(
            _entry(
                name,
                kind,
                child,
                right,
                start=starts.get(at, _END if kind != 1 else 0),
                size=sizes[at],
            )
            for at, (name, kind, _, child, right) in enumerate(entries)
        ),
        table,
    )
    count = 1
    while (len(table) + count) * 4 > count * _SECTOR:
        count += 1
    first = len(table)
    table += [_FAT] * count
    body += struct.pack(f"<{len(table)}I", *table).ljust(count * _SECTOR, b"\xff")
    fats = [*range(first, first + count)]
    header = struct.pack(
        "<8s16x5H6x10I",
        *(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6),
        *(
            0,
            count,
            directory_start,
            0,
            _MINI_CUTOFF,
            mini_start,
            -(-len(mini_table) // 128),
            _END,
            0,
        ),
        fats[0],
    )
    rest = [*fats[1:], *([_FREE] * (109 - len(fats)))]
    return header + struct.pack("<108I", *rest) + body


def _flatten(tree: Tree, parent: int, entries: list[list[Any]]) -> None:
    """Entries of a folder, in one chain: each is the right neighbour of the one before."""
    last = None
    for name, content in tree.items():
        index = len(entries)
        is_folder = isinstance(content, dict)
        entries.append([name, 1 if is_folder else 2, b"" if is_folder else content, _FREE, _FREE])
        if last is None:
            entries[parent][3] = index
        else:
            entries[last][4] = index
        last = index
        if isinstance(content, dict):
            _flatten(content, index, entries)


def _chained(data: bytes, table: list[int], *, fill: bytes = b"\0") -> bytes:
    """The data in whole sectors, which are added to the allocation table."""
    count = -(-len(data) // _SECTOR)
    if count:
        table += [*range(len(table) + 1, len(table) + count), _END]
    return data.ljust(count * _SECTOR, fill)


def _entry(name: str, kind: int, child: int, right: int, *, start: int, size: int) -> bytes:
    encoded = name.encode("utf-16-le") + b"\0\0"
    return struct.pack(
        "<64sHBBIII36xIQ", encoded, len(encoded), kind, 1, _FREE, right, child, start, size
    )


def signed_block(content: bytes, *, signed: bool = True) -> bytes:
    """The outer part of an S/MIME block (CMS): with its content to read, or as if encrypted."""
    oid = bytes.fromhex("06092a864886f70d0107") + (b"\x02" if signed else b"\x03")
    data_oid = bytes.fromhex("06092a864886f70d010701")
    octets = _der(0x04, content)
    inner = _der(0x30, data_oid + _der(0xA0, octets))
    body = _der(0x30, bytes.fromhex("020101") + _der(0x31, b"") + inner)
    return _der(0x30, oid + _der(0xA0, body))


def _der(tag: int, content: bytes) -> bytes:
    length = len(content)
    if length < 0x80:
        return bytes([tag, length]) + content
    return bytes([tag, 0x82]) + length.to_bytes(2, "big") + content


def epub(
    chapters: dict[str, str],
    *,
    navigation: str = "",
    ncx: str = "",
    guide: str = "",
    extra: dict[str, bytes] | None = None,
) -> bytes:
    """An e-book: bodies of XHTML by name, in reading order; lists of contents as markup."""
    items = "".join(
        f'<item id="c{at}" href="{name}" media-type="application/xhtml+xml"/>'
        for at, name in enumerate(chapters)
    )
    order = "".join(f'<itemref idref="c{at}"/>' for at in range(len(chapters)))
    if navigation:
        items += (
            '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
        )
    if ncx:
        items += '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A Book</dc:title>'
        "<dc:creator>Ann</dc:creator><dc:language>en</dc:language></metadata>"
        f"<manifest>{items}</manifest><spine>{order}</spine>{guide}</package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    )
    parts = {
        "mimetype": b"application/epub+zip",
        "META-INF/container.xml": container.encode(),
        "OEBPS/book.opf": package.encode(),
    }
    parts |= {f"OEBPS/{name}": xhtml(body) for name, body in chapters.items()}
    if navigation:
        parts["OEBPS/nav.xhtml"] = xhtml(f'<nav epub:type="toc"><ol>{navigation}</ol></nav>')
    if ncx:
        parts["OEBPS/toc.ncx"] = (
            f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{ncx}</navMap></ncx>'
        ).encode()
    return zipped({**parts, **(extra or {})})


def xhtml(body: str) -> bytes:
    """A chapter of an e-book."""
    return (
        '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"'
        ' xmlns:epub="http://www.idpf.org/2007/ops"><head><title/></head>'
        f"<body>{body}</body></html>"
    ).encode()
