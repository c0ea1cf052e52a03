"""How PowerPoint presentations are recognised: suffixes, media types, the package's parts
and OLE streams."""

import re

from ingest.formats import media_types as types
from ingest.formats.declaration import Format

FORMATS: tuple[Format, ...] = (
    Format(
        media_type=types.PPTX,
        label="a PowerPoint presentation",
        suffixes=".pptx .pptm .potx .ppsx",
        reader="ingest.formats.slides.pptx",
        zip_content_type=re.compile(
            rb"presentationml\.(?:presentation|template|slideshow)\.main|ms-powerpoint\.\w+\.macroEnabled\.main",
            re.IGNORECASE,
        ),
        zip_parts=("ppt/presentation.xml",),
        zip_folder="ppt/",
    ),
    Format(
        media_type=types.PPT,
        label="a PowerPoint 97 presentation",
        suffixes=".ppt .pps",
        reader="ingest.formats.slides.powerpoint_97.reader",
        ole_streams=("PowerPoint Document",),
    ),
)
