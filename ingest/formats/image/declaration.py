"""How images are recognised: suffixes, media types and signatures."""

import re

from ingest.formats import media_types as types
from ingest.formats.declaration import Format


def _picture(
    media_type: str,
    label: str,
    suffixes: str,
    *signatures: bytes | re.Pattern[bytes],
    aliases: tuple[str, ...] = (),
) -> Format:
    return Format(
        media_type=media_type,
        label=label,
        suffixes=suffixes,
        reader="ingest.formats.image.picture",
        viewer="ingest.formats.image.view",
        signatures=signatures,
        aliases=aliases,
    )


FORMATS: tuple[Format, ...] = (
    _picture(types.PNG, "a PNG image", ".png", b"\x89PNG\r\n\x1a\n"),
    _picture(types.JPEG, "a JPEG image", ".jpg .jpeg", b"\xff\xd8\xff", aliases=("image/jpg",)),
    _picture(
        types.TIFF, "a TIFF image", ".tif .tiff", re.compile(rb"II[*+]\0|MM\0[*+]", re.DOTALL)
    ),
    _picture(types.GIF, "a GIF image", ".gif", b"GIF87a", b"GIF89a"),
    _picture(types.WEBP, "a WebP image", ".webp", re.compile(rb"RIFF.{4}WEBP", re.DOTALL)),
    _picture(
        types.BMP,
        "a BMP image",
        ".bmp",
        re.compile(rb"BM.{4}\0{4}.{4}[\x0c\x28\x40\x6c\x7c]\0\0\0", re.DOTALL),
    ),
)
