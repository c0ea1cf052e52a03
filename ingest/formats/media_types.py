"""Names of file types: media types, the file name endings that promise them, words for people."""

from ingest.formats import code_languages, unsupported

TEXT = "text/plain"
MARKDOWN = "text/markdown"
HTML = "text/html"
CSV = "text/csv"
TSV = "text/tab-separated-values"
JSON = "application/json"
JSON_LINES = "application/x-ndjson"
NOTEBOOK = "application/x-ipynb+json"
XML = "application/xml"
PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
XLSB = "application/vnd.ms-excel.sheet.binary.macroenabled.12"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
DOC = "application/msword"
XLS = "application/vnd.ms-excel"
PPT = "application/vnd.ms-powerpoint"
MSG = "application/vnd.ms-outlook"
OLE = "application/x-ole-storage"
ODT = "application/vnd.oasis.opendocument.text"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
ODP = "application/vnd.oasis.opendocument.presentation"
EPUB = "application/epub+zip"
FLAT_OPC = "application/vnd.openxmlformats-package.flat+xml"
WORD_XML = "application/vnd.ms-word.2003+xml"
FODT = "application/vnd.oasis.opendocument.text-flat-xml"
FODS = "application/vnd.oasis.opendocument.spreadsheet-flat-xml"
FODP = "application/vnd.oasis.opendocument.presentation-flat-xml"
RTF = "application/rtf"
EMAIL = "message/rfc822"
MHTML = "multipart/related"
MBOX = "application/mbox"
ZIP = "application/zip"
GZIP = "application/gzip"
TAR = "application/x-tar"
BZIP2 = "application/x-bzip2"
XZ = "application/x-xz"
SEVEN_ZIP = "application/x-7z-compressed"
RAR = "application/vnd.rar"
PNG = "image/png"
JPEG = "image/jpeg"
GIF = "image/gif"
TIFF = "image/tiff"
WEBP = "image/webp"
BMP = "image/bmp"

_SUFFIXES = {
    TEXT: ".txt .text .log .rst .rest .adoc .asciidoc .tex .latex .org .srt .vtt .ics .vcf",
    MARKDOWN: ".md .markdown .mdown .mkd .mkdn .mdx .qmd .rmd",
    HTML: ".html .htm .xhtml .xht .shtml",
    CSV: ".csv",
    TSV: ".tsv .tab",
    JSON: ".json .geojson .webmanifest",
    JSON_LINES: ".jsonl .ndjson",
    NOTEBOOK: ".ipynb",
    XML: ".xml .nxml .rss .atom .svg .xsd .xsl .xslt .rdf .opml .kml .gpx .dita .xlf",
    PDF: ".pdf",
    DOCX: ".docx .docm .dotx .dotm",
    XLSX: ".xlsx .xlsm .xltx .xltm",
    XLSB: ".xlsb",
    PPTX: ".pptx .pptm .potx .ppsx",
    DOC: ".doc .dot",
    XLS: ".xls .xlt",
    PPT: ".ppt .pps",
    MSG: ".msg",
    ODT: ".odt .ott",
    ODS: ".ods",
    ODP: ".odp",
    EPUB: ".epub",
    FODT: ".fodt",
    FODS: ".fods",
    FODP: ".fodp",
    RTF: ".rtf",
    EMAIL: ".eml",
    MHTML: ".mhtml .mht",
    MBOX: ".mbox",
    ZIP: ".zip",
    GZIP: ".gz .tgz",
    TAR: ".tar",
    BZIP2: ".bz2 .tbz2",
    XZ: ".xz .txz",
    SEVEN_ZIP: ".7z",
    RAR: ".rar",
    PNG: ".png",
    JPEG: ".jpg .jpeg",
    GIF: ".gif",
    TIFF: ".tif .tiff",
    WEBP: ".webp",
    BMP: ".bmp",
}
BY_SUFFIX = {
    **dict.fromkeys(code_languages.BY_SUFFIX, TEXT),
    **{suffix: kind for kind, line in _SUFFIXES.items() for suffix in line.split()},
}
"""Media type that a lower-case file name ending promises."""

_DECLARED = {
    "application/xhtml+xml": HTML,
    "text/xml": XML,
    "text/json": JSON,
    "application/jsonl": JSON_LINES,
    "application/jsonlines": JSON_LINES,
    "application/x-jsonlines": JSON_LINES,
    "application/x-json-stream": JSON_LINES,
    "text/x-markdown": MARKDOWN,
    "application/csv": CSV,
    "text/x-csv": CSV,
    "text/comma-separated-values": CSV,
    "application/x-pdf": PDF,
    "text/rtf": RTF,
    "application/x-rtf": RTF,
    "application/x-zip-compressed": ZIP,
    "application/x-gzip": GZIP,
    "application/x-rar-compressed": RAR,
    "application/x-mimearchive": MHTML,
    "image/jpg": JPEG,
}
"""What senders say, and we call otherwise."""

ARCHIVES = frozenset({ZIP, TAR, GZIP, BZIP2, XZ})
"""Containers of files that have no text of their own."""
HOLD_FILES = ARCHIVES | {EMAIL, MSG, MBOX}
"""Types in which files are common."""

TEXTUAL = frozenset({TEXT, MARKDOWN, HTML, CSV, TSV, JSON, JSON_LINES, NOTEBOOK, XML})
"""Types whose bytes are text as such."""

_LABELS = {
    TEXT: "a text file",
    MARKDOWN: "a Markdown file",
    HTML: "a web page",
    CSV: "a CSV table",
    TSV: "a TSV table",
    JSON: "a JSON file",
    JSON_LINES: "a JSON Lines file",
    NOTEBOOK: "a notebook",
    XML: "an XML file",
    PDF: "a PDF",
    DOCX: "a Word document",
    XLSX: "an Excel workbook",
    XLSB: "a binary Excel workbook",
    PPTX: "a PowerPoint presentation",
    DOC: "a Word 97 document",
    XLS: "an Excel 97 workbook",
    PPT: "a PowerPoint 97 presentation",
    MSG: "an Outlook message",
    OLE: "an OLE container",
    ODT: "an OpenDocument text",
    ODS: "an OpenDocument spreadsheet",
    ODP: "an OpenDocument presentation",
    EPUB: "an e-book",
    FLAT_OPC: "an Office document in XML",
    WORD_XML: "a Word document in XML",
    FODT: "an OpenDocument text in XML",
    FODS: "an OpenDocument spreadsheet in XML",
    FODP: "an OpenDocument presentation in XML",
    RTF: "an RTF document",
    EMAIL: "an e-mail",
    MHTML: "a web archive",
    MBOX: "a mailbox",
    ZIP: "a ZIP archive",
    GZIP: "a gzip archive",
    TAR: "a tar archive",
    BZIP2: "a bzip2 archive",
    XZ: "an xz archive",
    SEVEN_ZIP: "a 7-Zip archive",
    RAR: "a RAR archive",
}


_KINDS = {"image": "an image", "audio": "an audio file", "video": "a video", "font": "a font"}


def label(media_type: str) -> str:
    """The type in words, with its article: `a PDF`, `an image`."""
    known = _LABELS.get(media_type) or unsupported.LABELS.get(media_type)
    return known or _KINDS.get(media_type.split("/")[0], f"a file of type {media_type}")


def format_name(media_type: str) -> str:
    """A short word for lists and metrics: `pdf`, `docx`; `other` for what is not known here."""
    if media_type in (FLAT_OPC, WORD_XML):
        return "xml"
    return _SUFFIXES.get(media_type, ".other").split()[0].removeprefix(".")


def declared(content_type: str | None) -> str | None:
    """The media type that a Content-Type header states; None where it says nothing of use."""
    stated = (content_type or "").split(";")[0].strip().lower()
    if stated in _DECLARED:
        return _DECLARED[stated]
    if stated != TEXT and (stated in _LABELS or stated in _SUFFIXES):
        return stated
    return {"+xml": XML, "+json": JSON}.get(stated[stated.rfind("+") :]) if "+" in stated else None
