"""CSS colours, to detect text in the colour of its background."""

import re

Colour = tuple[int, int, int]

_NAMES: dict[str, Colour] = {
    "white": (255, 255, 255),
    "black": (0, 0, 0),
    "red": (255, 0, 0),
    "green": (0, 128, 0),
    "lime": (0, 255, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "aqua": (0, 255, 255),
    "cyan": (0, 255, 255),
    "fuchsia": (255, 0, 255),
    "magenta": (255, 0, 255),
    "navy": (0, 0, 128),
    "gray": (128, 128, 128),
    "grey": (128, 128, 128),
    "silver": (192, 192, 192),
    "snow": (255, 250, 250),
    "ivory": (255, 255, 240),
    "ghostwhite": (248, 248, 255),
    "whitesmoke": (245, 245, 245),
    "floralwhite": (255, 250, 240),
    "mintcream": (245, 255, 250),
    "azure": (240, 255, 255),
}
_HEX = re.compile(r"#?([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_FUNCTION = re.compile(
    r"rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})(?:\s*[,/]\s*([\d.]+)(%?))?\s*\)"
)
_INDISTINGUISHABLE = 12  # difference per component, of 255


def is_transparent(value: str) -> bool:
    """Whether the colour is fully transparent."""
    found = _HEX.fullmatch(value)
    if value == "transparent":
        return True
    if found is not None and len(found[1]) in (4, 8):
        return set(found[1][3 if len(found[1]) == 4 else 6 :]) == {"0"}
    function = _FUNCTION.fullmatch(value)
    return function is not None and function[4] is not None and not function[4].strip("0.")


def parse_colour(value: str) -> Colour | None:
    """The colour without its transparency; None if it is invalid or unknown."""
    if value in _NAMES:
        return _NAMES[value]
    found = _HEX.fullmatch(value)
    if found is not None:
        digits = found[1]
        pairs = [digit * 2 for digit in digits] if len(digits) < 6 else re.findall("..", digits)
        return int(pairs[0], 16), int(pairs[1], 16), int(pairs[2], 16)
    function = _FUNCTION.fullmatch(value)
    return (int(function[1]), int(function[2]), int(function[3])) if function else None


def are_indistinguishable(one: Colour, other: Colour) -> bool:
    """Whether text in one colour is invisible on the other."""
    return all(abs(a - b) <= _INDISTINGUISHABLE for a, b in zip(one, other, strict=True))
