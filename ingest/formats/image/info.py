"""Metadata of a picture file."""

import re
from typing import Any

from PIL import ExifTags, Image

from ingest.optional_steps import attempt

_TEXTS = {"Title": "title", "Author": "author", "Description": "description", "Comment": "comment"}
_TAGS = {
    ExifTags.Base.ImageDescription: "description",
    ExifTags.Base.Artist: "author",
    ExifTags.Base.DateTime: "modified",
}
_DATE = re.compile(r"(\d{4}):(\d\d):(\d\d) (\d\d:\d\d:\d\d)")
_LONGEST = 1000  # characters


def metadata(image: Image.Image) -> dict[str, Any]:
    """`width` and `height` in pixels; if present: title, author, description, comment and the
    dates `created` and `modified`."""
    found: dict[str, Any] = {"width": image.width, "height": image.height}
    for key, name in _TEXTS.items():
        _put(found, name, image.info.get(key))
    _put(found, "comment", image.info.get("comment"))  # of JPEG and GIF
    attempt("metadata", lambda: _put_exif(found, image))
    return found


def _put_exif(found: dict[str, Any], image: Image.Image) -> None:
    """Add dates and texts of the EXIF data; Pillow may raise anything if they are broken."""
    exif = image.getexif()
    for tag, name in _TAGS.items():
        _put(found, name, exif.get(tag))
    _put(found, "created", exif.get_ifd(ExifTags.IFD.Exif).get(ExifTags.Base.DateTimeOriginal))


def _put(found: dict[str, Any], name: str, value: Any) -> None:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str) and value.strip(" \0"):
        found.setdefault(name, _DATE.sub(r"\1-\2-\3T\4", value.strip(" \0"))[:_LONGEST])
