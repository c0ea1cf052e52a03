"""Pictures: names and signatures."""

import re

from ingest.formats import media_types as types
from ingest.formats.declaration import Format

FORMATS: tuple[Format, ...] = (
    Format(
        media_type=types.PNG,
        label="a PNG image",
        suffixes=".png",
        reader="ingest.formats.image.picture",
        signatures=(b"\x89PNG\r\n\x1a\n",),
    ),
    Format(
        media_type=types.JPEG,
        label="a JPEG image",
        suffixes=".jpg .jpeg",
        reader="ingest.formats.image.picture",
        aliases=("image/jpg",),
        signatures=(b"\xff\xd8\xff",),
    ),
    Format(
        media_type=types.TIFF,
        label="a TIFF image",
        suffixes=".tif .tiff",
        reader="ingest.formats.image.picture",
        signatures=(
            b"II*\x00",
            b"MM\x00*",
            b"II+\x00",
            b"MM\x00+",
        ),
    ),
    Format(
        media_type=types.GIF,
        label="a GIF image",
        suffixes=".gif",
        reader="ingest.formats.image.picture",
        signatures=(
            b"GIF87a",
            b"GIF89a",
        ),
    ),
    Format(
        media_type=types.WEBP,
        label="a WebP image",
        suffixes=".webp",
        reader="ingest.formats.image.picture",
        signatures=(re.compile(rb"RIFF.{4}WEBP", re.DOTALL),),
    ),
    Format(
        media_type=types.BMP,
        label="a BMP image",
        suffixes=".bmp",
        reader="ingest.formats.image.picture",
        signatures=(re.compile(rb"BM.{4}\0{4}.{4}[\x0c\x28\x40\x6c\x7c]\0\0\0", re.DOTALL),),
    ),
)
