"""Prepares a picture for OCR: upright, grey, dark letters on white, of moderate size."""

from typing import cast

from PIL import Image, ImageOps, ImageStat

_LARGEST = 4000  # pixels of a side; A4 at 300 dpi has 3500
_WHITE, _BLACK = 255, 0
_BRIGHT = 200  # mean of opaque pixels; if brighter, the letters are white, for a dark background


def grey(image: Image.Image) -> Image.Image:
    """Return one channel of 8 bits. Raises the errors of Pillow for a damaged picture."""
    image.draft("L", (_LARGEST, _LARGEST))  # decodes a large JPEG at 1/2 to 1/8 of its size
    image.load()
    return ImageOps.exif_transpose(_reduced(_one_channel(image)))


def _one_channel(image: Image.Image) -> Image.Image:
    if image.mode.startswith(("I", "F")):
        return stretched(image)
    if "transparency" in image.info or image.mode in ("PA", "La", "RGBa"):
        return _on_background(image.convert("RGBA"))
    if image.mode in ("LA", "RGBA"):
        return _on_background(image)
    return image.convert("L")


def stretched(image: Image.Image) -> Image.Image:
    """Scale more than 8 bits per pixel down to 8, because a plain conversion would clip them."""
    lowest, highest = cast(tuple[float, float], image.getextrema())
    scale = _WHITE / max(highest - lowest, 1)
    return image.point(lambda value: (value - lowest) * scale).convert("L")


def _reduced(image: Image.Image) -> Image.Image:
    factor = max(image.size) // _LARGEST
    return image.reduce(factor) if factor > 1 else image


def _on_background(image: Image.Image) -> Image.Image:
    """Make transparent parts white, or black if white would hide what is drawn."""
    opacity = image.getchannel("A")
    drawn = image.convert("L")
    is_bright = opacity.getbbox() and ImageStat.Stat(drawn, mask=opacity).mean[0] > _BRIGHT
    background = Image.new("L", image.size, _BLACK if is_bright else _WHITE)
    background.paste(drawn, mask=opacity)
    background.info = image.info  # with the EXIF data, which hold the orientation
    return background
