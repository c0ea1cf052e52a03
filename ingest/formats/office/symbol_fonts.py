"""Characters of fonts whose codes are no letters: Symbol, Wingdings."""

_PRIVATE_USE = 0xF000  # Word stores codes of symbol fonts from here on
_SYMBOL_FONT = {
    chr(first + place): character
    for first, characters in (
        (0x41, "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"),
        (0x61, "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"),
        (0xA0, "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥\xd7∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉"),  # noqa: RUF001
        (0xD0, "∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪"),  # noqa: RUF001
        (0xF1, "〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"),
    )
    for place, character in enumerate(characters)
} | dict(zip("\"$'*-@\\^`~", "∀∃∋∗\u2212≅∴⊥‾∼", strict=True))  # noqa: RUF001
_WINGDINGS_FONT = {
    "\x4a": "☺", "\x4c": "☹", "\x6e": "■", "\x6f": "☐", "\x78": "☒", "\xa7": "▪", "\xa8": "☐",
    "\xd8": "➢", "\xe0": "→", "\xfb": "✗", "\xfc": "✓", "\xfd": "☒", "\xfe": "☑",
}  # fmt: skip


def glyph(font: str | None, number: int) -> str:
    """The character of a code in a font; empty if its glyph is unknown."""
    is_private = _PRIVATE_USE <= number <= _PRIVATE_USE + 0xFF
    character = chr(number - _PRIVATE_USE) if is_private else chr(number) if number < 0xD800 else ""
    if font == "Symbol":
        return _SYMBOL_FONT.get(character, character)
    if font is not None and font.startswith("Wingdings"):
        return _WINGDINGS_FONT.get(character, "")
    if 0x80 <= number < 0xA0:  # a code of Windows, which is a control character in Unicode
        return character.encode("latin-1").decode("cp1252", "ignore")
    return "" if is_private else character
