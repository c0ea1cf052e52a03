"""Maps characters of the fonts Symbol and Wingdings to Unicode."""

_PRIVATE = 0xF000  # Word stores codes of symbol fonts from here on
_SYMBOL = dict(
    zip(
        "ABGDEZHQIKLMNXOPRSTUFCYWabgdezhqiklmnxoprstufcyw",
        "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρστυφχψω",
        strict=True,
    )
) | dict(
    zip(
        "\xa3\xa5\xae\xac\xb0\xb1\xb3\xb4\xb7\xb9\xbb\xce\xd6\xe5",
        "≤∞→←°±≥\xd7•≠≈∈√∑",
        strict=True,
    )
)
_WINGDINGS = {
    "\x6e": "■", "\x6f": "☐", "\x78": "☒", "\xa7": "▪", "\xa8": "☐", "\xd8": "➢",
    "\xe0": "→", "\xfb": "✗", "\xfc": "✓", "\xfd": "☒", "\xfe": "☑",
}  # fmt: skip


def symbol(font: str | None, code: str | None) -> str:
    """The character of a w:sym element; empty if its code is invalid or its glyph is unknown."""
    try:
        number = int(code or "", 16)
    except ValueError:
        return ""
    is_private = _PRIVATE <= number <= _PRIVATE + 0xFF
    character = chr(number - _PRIVATE) if is_private else chr(number) if number < 0xE000 else ""
    if font == "Symbol":
        return _SYMBOL.get(character, character)
    if font is not None and font.startswith("Wingdings"):
        return _WINGDINGS.get(character, "")
    return "" if is_private else character
