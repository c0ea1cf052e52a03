"""Flat OPC: Office packages that Word saves as one `.xml` file. Repacked as ZIP, then read."""

import base64
import io
import zipfile
from dataclasses import replace

from lxml import etree

from ingest.errors import Permanent
from ingest.formats.common import inflate_limit as archive
from ingest.formats.common.input_file import Extraction, InputFile
from ingest.formats.office.xml_tree import attribute, child, parse
from ingest.formats.slides import pptx
from ingest.formats.word import docx


def extract(source: InputFile) -> Extraction:
    """Read the package as docx or pptx. Raises Permanent `unsupported_type` for other packages."""
    data = source.stream.read()
    archive.guard_xml(data)
    package, folders = _packed(data)
    inner = replace(source, stream=package)
    if "word" in folders:
        return docx.extract(inner)
    if "ppt" in folders:
        return pptx.extract(inner)
    raise Permanent(
        "This XML package is neither a Word document nor a presentation.", code="unsupported_type"
    )


def _packed(data: bytes) -> tuple[io.BytesIO, set[str]]:
    """The package as an uncompressed ZIP file, and the names of its top-level folders."""
    out = io.BytesIO()
    folders = set()
    root = parse(data)
    with zipfile.ZipFile(out, "w") as archive:
        for part in root.iterchildren("{*}part"):
            name = (attribute(part, "name") or "").lstrip("/")
            content = _content(part)
            if name and content is not None:
                folders.add(name.partition("/")[0])
                archive.writestr(name, content)
    return out, folders


def _content(part: etree._Element) -> bytes | None:
    binary = child(part, "binaryData")
    if binary is not None:
        return base64.b64decode(binary.text or "")
    inner = child(part, "xmlData")
    root = None if inner is None else next(inner.iterchildren("*"), None)
    return None if root is None else etree.tostring(root)
