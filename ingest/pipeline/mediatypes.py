"""Names of file types: media types, the file name endings that promise them, words for people."""

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
RTF = "application/rtf"
EMAIL = "message/rfc822"
MHTML = "multipart/related"
MBOX = "application/mbox"
ZIP = "application/zip"
GZIP = "application/gzip"
TAR = "application/x-tar"
SEVEN_ZIP = "application/x-7z-compressed"
RAR = "application/vnd.rar"
PNG = "image/png"
JPEG = "image/jpeg"
GIF = "image/gif"
TIFF = "image/tiff"
WEBP = "image/webp"
BMP = "image/bmp"

_SUFFIXES = {
    TEXT: ".txt .text .log .rst .adoc .tex .srt .vtt .ini .cfg .toml .yaml .yml .py .js .ts .java"
    " .c .h .cc .cpp .cs .go .rs .rb .php .sh .sql .css .r .jl .kt .swift .lua .pl",
    MARKDOWN: ".md .markdown .mdown .mkd .mdx",
    HTML: ".html .htm .xhtml",
    CSV: ".csv",
    TSV: ".tsv",
    JSON: ".json",
    JSON_LINES: ".jsonl .ndjson",
    NOTEBOOK: ".ipynb",
    XML: ".xml .nxml .rss .atom .svg",
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
    RTF: ".rtf",
    EMAIL: ".eml",
    MHTML: ".mhtml .mht",
    MBOX: ".mbox",
    ZIP: ".zip",
    GZIP: ".gz .tgz",
    TAR: ".tar",
    SEVEN_ZIP: ".7z",
    RAR: ".rar",
    PNG: ".png",
    JPEG: ".jpg .jpeg",
    GIF: ".gif",
    TIFF: ".tif .tiff",
    WEBP: ".webp",
    BMP: ".bmp",
}
BY_SUFFIX = {suffix: kind for kind, line in _SUFFIXES.items() for suffix in line.split()}
"""Media type that a lower-case file name ending promises."""

ARCHIVES = frozenset({ZIP, TAR, GZIP})
"""Containers of files that have no text of their own."""

TEXTUAL = frozenset({TEXT, MARKDOWN, HTML, CSV, TSV, JSON, JSON_LINES, NOTEBOOK, XML})
"""Types whose bytes are text as such; between them only the name decides."""

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
    RTF: "an RTF document",
    EMAIL: "an e-mail",
    MHTML: "a web archive",
    MBOX: "a mailbox",
    ZIP: "a ZIP archive",
    GZIP: "a gzip archive",
    TAR: "a tar archive",
    SEVEN_ZIP: "a 7-Zip archive",
    RAR: "a RAR archive",
}


def label(media_type: str) -> str:
    """The type in words, with its article: `a PDF`, `an image`."""
    if media_type.startswith("image/"):
        return "an image"
    return _LABELS.get(media_type, f"a file of type {media_type}")
