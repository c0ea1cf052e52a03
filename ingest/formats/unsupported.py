"""Formats that are recognised but not read, so that the error message can name them."""

from collections.abc import Sequence

SEVEN_ZIP = "application/x-7z-compressed"
RAR = "application/vnd.rar"
OLE = "application/x-ole-storage"
POWERPOINT_95 = "application/x-mspowerpoint-95"

_SIGNATURES: Sequence[tuple[int, bytes, str]] = (
    (0, b"7z\xbc\xaf\x27\x1c", SEVEN_ZIP),
    (0, b"Rar!\x1a\x07", RAR),
    (0, b"\x04\x22\x4d\x18", "application/x-lz4"),
    (0, b"LZIP", "application/x-lzip"),
    (0, b"\x1f\x9d", "application/x-compress"),
    (0, b"\x89LZO\0\r\n\x1a\n", "application/x-lzop"),
    (0, b"\x5d\0\0\x80\0", "application/x-lzma"),
    (0, b"MSCF\0\0\0\0", "application/vnd.ms-cab-compressed"),
    (0, b"xar!", "application/x-xar"),
    (0, b"!<arch>\n", "application/x-archive"),
    (0, b"\xed\xab\xee\xdb", "application/x-rpm"),
    (0x8001, b"CD001", "application/x-iso9660-image"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"\xff\xf3", "audio/mpeg"),
    (0, b"\xff\xf2", "audio/mpeg"),
    (0, b"\xff\xf1", "audio/aac"),
    (0, b"\xff\xf9", "audio/aac"),
    (0, b"fLaC", "audio/flac"),
    (0, b"OggS", "audio/ogg"),
    (0, b"MThd\0\0\0\x06", "audio/midi"),
    (0, b"#!AMR", "audio/amr"),
    (0, b"\x1a\x45\xdf\xa3", "video/x-matroska"),
    (0, b"FLV\x01", "video/x-flv"),
    (0, b"\0\0\x01\xba", "video/mpeg"),
    (0, b"\0\0\x01\xb3", "video/mpeg"),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "video/x-ms-asf"),
    (0, b"\x7fELF", "application/x-executable"),
    (0, b"\xca\xfe\xba\xbe", "application/java-vm"),
    (0, b"\xcf\xfa\xed\xfe", "application/x-executable"),
    (0, b"\xce\xfa\xed\xfe", "application/x-executable"),
    (0, b"\0asm", "application/wasm"),
    (0, b"dex\n03", "application/x-executable"),
    (0, b"\0\x01\0\0\0", "font/ttf"),
    (0, b"OTTO\0", "font/otf"),
    (0, b"ttcf\0", "font/collection"),
    (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
    (0, b"SQLite format 3\0", "application/vnd.sqlite3"),
    (4, b"Standard Jet DB", "application/vnd.ms-access"),
    (4, b"Standard ACE DB", "application/vnd.ms-access"),
    (0, b"PAR1", "application/vnd.apache.parquet"),
    (0, b"ARROW1\0\0", "application/vnd.apache.arrow.file"),
    (0, b"Obj\x01", "application/vnd.apache.avro"),
    (0, b"ORC\x08", "application/vnd.apache.orc"),
    (0, b"\x89HDF\r\n\x1a\n", "application/x-hdf5"),
    (0, b"\x93NUMPY", "application/x-npy"),
    (0, b"CDF\x01", "application/x-netcdf"),
    (0, b"8BPS", "image/vnd.adobe.photoshop"),
    (0, b"\0\0\x01\0\x01\0", "image/x-icon"),
    (0, b"icns\0", "image/icns"),
    (0, b"\xd7\xcd\xc6\x9a", "image/wmf"),
    (40, b" EMF", "image/emf"),
    (0, b"AT&TFORM", "image/vnd.djvu"),
    (0, b"\0\0\0\x0cjP  \r\n\x87\n", "image/jp2"),
    (0, b"AC10", "image/vnd.dwg"),
    (128, b"DICM", "application/dicom"),
    (0, b"\xc5\xd0\xd3\xc6", "application/postscript"),
    (0, b"!BDN", "application/vnd.ms-outlook-pst"),
    (0, b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d", "application/onenote"),
    (0, b"\xffWPC", "application/vnd.wordperfect"),
    (0, b"\x9b\xa5\x21\0", "application/x-msword-2"),
    (0, b"\xdb\xa5\x2d\0", "application/x-msword-2"),
    (0, b"\x31\xbe\0\0", "application/x-mswrite"),
    (0, b"ITSF\x03\0", "application/vnd.ms-htmlhelp"),
    (60, b"BOOKMOBI", "application/x-mobipocket-ebook"),
    (0, b"bplist00", "application/x-bplist"),
    (0, b"L\0\0\0\x01\x14\x02\0", "application/x-ms-shortcut"),
    (0, b"\xd4\xc3\xb2\xa1", "application/vnd.tcpdump.pcap"),
    (0, b"\x0a\x0d\x0d\x0a", "application/vnd.tcpdump.pcap"),
)
_RIFF = {b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo", b"CDRA": "image/x-coreldraw"}
_STILL = (b"heic", b"heix", b"heim", b"mif1", b"msf1", b"avif")

ZIP_PARTS = {
    "visio/document.xml": "application/vnd.visio",
    "fixeddocumentsequence.fdseq": "application/vnd.ms-xpsdocument",
    "fixeddocseq.fdseq": "application/vnd.ms-xpsdocument",
    "index/document.iwa": "application/vnd.apple.iwork",
    "metadata/buildversionhistory.plist": "application/vnd.apple.iwork",
    "buildversionhistory.plist": "application/vnd.apple.iwork",
}
"""Lower-case parts of ZIP packages that only these formats have."""
OLE_STREAMS = {
    "VisioDocument": "application/vnd.visio",
    "Quill/QuillSub/CONTENTS": "application/vnd.ms-publisher",
    "BodyText/Section0": "application/x-hwp",
    "   114/Props": "application/vnd.ms-project",
    "\u4840\u3b3f\u43f2\u4438\u45b1": "application/x-msi",
}
"""Streams of OLE containers that only these formats have."""
BY_SUFFIX = {".7z": SEVEN_ZIP, ".rar": RAR}
"""File name suffixes of these formats."""

LABELS = {
    SEVEN_ZIP: "a 7-Zip archive",
    RAR: "a RAR archive",
    OLE: "an OLE container",
    POWERPOINT_95: "a PowerPoint 95 presentation",
    "application/x-lz4": "an LZ4 archive",
    "application/x-lzip": "an lzip archive",
    "application/x-compress": "a compressed file (.Z)",
    "application/x-lzop": "an lzop file",
    "application/x-lzma": "an LZMA file (.lzma)",
    "application/vnd.ms-cab-compressed": "a Windows cabinet",
    "application/x-xar": "a xar archive",
    "application/x-archive": "a Unix library or Debian package",
    "application/x-rpm": "an RPM package",
    "application/x-iso9660-image": "a disc image",
    "application/x-executable": "a program",
    "application/vnd.microsoft.portable-executable": "a Windows program",
    "application/java-vm": "a compiled Java class or a program",
    "application/wasm": "a WebAssembly program",
    "application/vnd.sqlite3": "an SQLite database",
    "application/vnd.ms-access": "an Access database",
    "application/vnd.apache.parquet": "a Parquet file",
    "application/vnd.apache.arrow.file": "an Arrow file",
    "application/vnd.apache.avro": "an Avro file",
    "application/vnd.apache.orc": "an ORC file",
    "application/x-hdf5": "an HDF5 file",
    "application/x-npy": "a NumPy array",
    "application/x-netcdf": "a NetCDF file",
    "image/vnd.adobe.photoshop": "a Photoshop picture",
    "image/jp2": "a JPEG 2000 picture",
    "image/heif": "a HEIC or AVIF picture",
    "image/vnd.djvu": "a DjVu document",
    "image/vnd.dwg": "an AutoCAD drawing",
    "application/dicom": "a DICOM picture",
    "application/postscript": "a PostScript file",
    "application/vnd.ms-outlook-pst": "an Outlook data file",
    "application/onenote": "a OneNote section",
    "application/vnd.wordperfect": "a WordPerfect document",
    "application/x-msword-2": "a Word 1 or Word 2 document",
    "application/x-mswrite": "a Windows Write document",
    "application/vnd.ms-htmlhelp": "a Windows help file",
    "application/x-mobipocket-ebook": "a Kindle e-book",
    "application/x-bplist": "a binary property list",
    "application/x-ms-shortcut": "a Windows shortcut",
    "application/vnd.tcpdump.pcap": "a network recording",
    "application/vnd.apple.iwork": "an Apple Pages, Numbers or Keynote document",
    "application/vnd.visio": "a Visio drawing",
    "application/vnd.ms-publisher": "a Publisher document",
    "application/vnd.ms-project": "a Project plan",
    "application/x-msi": "a Windows installer",
    "application/x-hwp": "a Hangul document",
    "application/vnd.ms-xpsdocument": "an XPS document",
    "application/vnd.sun.xml": "an OpenOffice.org 1 document",
    "application/vnd.oasis.opendocument.graphics": "an OpenDocument drawing",
    "application/vnd.oasis.opendocument.formula": "an OpenDocument formula",
    "application/vnd.oasis.opendocument.base": "an OpenDocument database",
    "application/vnd.oasis.opendocument.chart": "an OpenDocument chart",
}
"""Phrases with an article by media type; whole kinds (`audio/…`) need no entry."""


def by_signature(head: bytes, *, is_text: bool) -> str | None:
    """Media type of an unsupported format by its magic bytes; None if none matches.

    A text may start with the letters of a signature, so only signatures with other bytes count.
    """
    for offset, signature, media_type in _SIGNATURES:
        if head.startswith(signature, offset) and not (is_text and _could_be_text(signature)):
            return media_type
    if head.startswith(b"%!PS-Adobe"):
        return "application/postscript"
    return None if is_text else _by_structure(head)


def _could_be_text(signature: bytes) -> bool:
    return len(signature) < 4 or not any(byte < 0x09 or byte >= 0x80 for byte in signature)


def _by_structure(head: bytes) -> str | None:
    if head[:4] == b"RIFF":
        return _RIFF.get(head[8:12])
    if head[4:8] == b"ftyp":
        return "image/heif" if head[8:12] in _STILL else "video/mp4"
    if head[:2] == b"MZ":
        return "application/vnd.microsoft.portable-executable"
    # MPEG transport stream: packets of 188 bytes, each starting with `G`.
    if len(head) > 1000 and all(head[at] == ord("G") for at in (0, 188, 376, 564)):
        return "video/mp2t"
    return None
