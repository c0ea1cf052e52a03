"""How RTF and Flat OPC are recognised: suffixes, media types and XML marks."""

from ingest.formats import media_types as types
from ingest.formats.declaration import Format

FORMATS: tuple[Format, ...] = (
    Format(
        media_type=types.RTF,
        label="an RTF document",
        suffixes=".rtf",
        reader="ingest.formats.office.rtf.reader",
        aliases=("text/rtf", "application/x-rtf"),
    ),
    Format(
        media_type=types.FLAT_OPC,
        label="an Office document in XML",
        reader="ingest.formats.flat_office",
        xml_marks=("http://schemas.microsoft.com/office/2006/xmlPackage",),
        related=frozenset({types.WORD_XML, types.XML}),
    ),
)
