"""How OpenDocument texts and presentations are recognised.

By suffixes, media types, the package's `mimetype` part and XML marks.
"""

from ingest.formats import media_types as types
from ingest.formats.declaration import Format

FORMATS: tuple[Format, ...] = (
    Format(
        media_type=types.ODT,
        label="an OpenDocument text",
        suffixes=".odt .ott",
        reader="ingest.formats.opendocument.document",
        zip_mimetypes=(
            "application/vnd.oasis.opendocument.text",
            "application/vnd.oasis.opendocument.text-master",
            "application/vnd.oasis.opendocument.text-web",
        ),
    ),
    Format(
        media_type=types.ODP,
        label="an OpenDocument presentation",
        suffixes=".odp",
        reader="ingest.formats.opendocument.document",
        zip_mimetypes=("application/vnd.oasis.opendocument.presentation",),
    ),
    Format(
        media_type=types.FODT,
        label="an OpenDocument text in XML",
        suffixes=".fodt",
        reader="ingest.formats.opendocument.document",
        xml_marks=('mimetype="application/vnd.oasis.opendocument.text"',),
    ),
    Format(
        media_type=types.FODP,
        label="an OpenDocument presentation in XML",
        suffixes=".fodp",
        reader="ingest.formats.opendocument.document",
        xml_marks=('mimetype="application/vnd.oasis.opendocument.presentation"',),
    ),
)
