"""How XML files are recognised: suffixes and media types."""

from ingest.formats import media_types as types
from ingest.formats.declaration import Format

FORMATS: tuple[Format, ...] = (
    Format(
        media_type=types.XML,
        label="an XML file",
        suffixes=".xml .nxml .rss .atom .svg .xsd .xsl .xslt .rdf .opml .kml .gpx .dita .xlf",
        reader="ingest.formats.xml.document",
        aliases=("text/xml",),
        is_text=True,
        related=frozenset({types.WORD_XML, types.FLAT_OPC, types.HTML}),
    ),
)
