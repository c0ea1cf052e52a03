"""Builders of small pictures for tests: each returns the bytes of one file."""

import io
import zlib
from collections.abc import Sequence
from typing import Any

from PIL import Image, ImageDraw, ImageFont, PngImagePlugin

ORIENTATION = 274
"""The EXIF tag that says which side is up."""


def drawn(text: str, *, size: int = 32, colour: int = 0, paper: int = 255) -> Image.Image:
    """A grey picture with lines of text."""
    font = ImageFont.load_default(size)
    box = ImageDraw.Draw(Image.new("L", (1, 1))).multiline_textbbox((0, 0), text, font=font)
    image = Image.new("L", (round(box[2]) + 40, round(box[3]) + 40), paper)
    ImageDraw.Draw(image).multiline_text((20, 20), text, fill=colour, font=font)
    return image


def encoded(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    """The picture as a file: `PNG`, `JPEG`, `TIFF`, `GIF`, `WEBP`, `BMP`."""
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def frames(images: Sequence[Image.Image], kind: str = "TIFF") -> bytes:
    """A file of several pictures."""
    return encoded(images[0], kind, save_all=True, append_images=list(images[1:]))


def described(image: Image.Image, texts: dict[str, str]) -> bytes:
    """A PNG that says something about itself."""
    chunks = PngImagePlugin.PngInfo()
    for key, text in texts.items():
        chunks.add_text(key, text)
    return encoded(image, pnginfo=chunks)


def with_exif(image: Image.Image, values: dict[int, Any], kind: str = "JPEG") -> bytes:
    """A picture with EXIF data."""
    exif = Image.Exif()
    exif.update(values)
    return encoded(image, kind, exif=exif)


def huge_png(width: int, height: int) -> bytes:
    """A coloured PNG of some 90 kB that claims to be of this size."""
    small = bytearray(encoded(Image.effect_noise((300, 300), 90).convert("RGB")))
    small[16:24] = width.to_bytes(4) + height.to_bytes(4)
    small[29:33] = zlib.crc32(small[12:29]).to_bytes(4)
    return bytes(small)
