"""How Word documents are recognised: suffixes, media types, package parts, streams, XML marks."""

import re

from ingest.formats import media_types as types
from ingest.formats.declaration import Format

FORMATS: tuple[Format, ...] = (
    Format(
        media_type=types.DOCX,
        label="a Word document",
        suffixes=".docx .docm .dotx .dotm",
        reader="ingest.formats.word.docx",
        zip_content_type=re.compile(
            rb"wordprocessingml\.(?:document|template)\.main"
            rb"|ms-word\.\w+\.macroEnabled(?:Template)?\.main",
            re.IGNORECASE,
        ),
        zip_parts=("word/document.xml",),
        zip_folder="word/",
    ),
    Format(
        media_type=types.WORD_XML,
        label="a Word document in XML",
        reader="ingest.formats.word.word_2003_xml",
        xml_marks=("http://schemas.microsoft.com/office/word/2003/wordml",),
        related=frozenset({types.FLAT_OPC, types.XML}),
    ),
    Format(
        media_type=types.DOC,
        label="a Word 97 document",
        suffixes=".doc .dot",
        reader="ingest.formats.word.word_97.reader",
        ole_streams=("WordDocument",),
    ),
)
