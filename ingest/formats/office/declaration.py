"""How PowerPoint 97, RTF and Flat OPC are recognised.

By suffixes, media types, OLE streams and XML marks.
"""

from ingest.formats import media_types as types
from ingest.formats.declaration import Format

FORMATS: tuple[Format, ...] = (
    Format(
        media_type=types.PPT,
        label="a PowerPoint 97 presentation",
        suffixes=".ppt .pps",
        reader="ingest.formats.office.legacy",
        ole_streams=("PowerPoint Document",),
    ),
    Format(
        media_type=types.RTF,
        label="an RTF document",
        suffixes=".rtf",
        reader="ingest.formats.office.legacy",
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
