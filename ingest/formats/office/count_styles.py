"""Writes counts as lists show them: `iv`, `b`, `二十三`, `②`. Styles have the names of Word."""

_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
          (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_LARGEST = 3999
_HAN = "〇一二三四五六七八九"
_CHINESE = frozenset(
    {"chineseCounting", "chineseCountingThousand", "japaneseCounting", "taiwaneseCounting"}
    | {"taiwaneseCountingThousand"}
)
_CYRILLIC = "абвгдежзиклмнопрстуфхцчшщэюя"
_CIRCLES = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
_KANA = (
    "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
)
_ALPHABETS = {
    "russianLower": _CYRILLIC,
    "russianUpper": _CYRILLIC.upper(),
    "decimalEnclosedCircle": _CIRCLES,
    "decimalEnclosedCircleChinese": _CIRCLES,
    "decimalEnclosedParen": "⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽⑾⑿⒀⒁⒂⒃⒄⒅⒆⒇",
    "ideographTraditional": "甲乙丙丁戊己庚辛壬癸",
    "ganada": "가나다라마바사아자차카타파하",
    "aiueo": _KANA,
    "aiueoFullWidth": _KANA,
    "hebrew2": "אבגדהוזחטיכלמנסעפצקרשת",
    "arabicAlpha": "أبتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "arabicAbjad": "أبجدهوزحطيكلمنسعفصقرشتثخذضظغ",
}
_DIGITS = {
    "ideographDigital": str.maketrans("0123456789", _HAN),
    "japaneseDigitalTenThousand": str.maketrans("0123456789", _HAN),
    "koreanDigital2": str.maketrans("0123456789", _HAN),
    "thaiNumbers": str.maketrans("0123456789", "๐๑๒๓๔๕๖๗๘๙"),
    "hindiNumbers": str.maketrans("0123456789", "०१२३४५६७८९"),
}


def spelled(count: int, style: str) -> str:
    """A count in the style of Word: `decimal`, `lowerLetter`, `upperRoman`, `ordinal` …"""
    if style in ("lowerLetter", "upperLetter") and 0 < count <= _LARGEST:
        letters = chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1)
        return letters if style == "lowerLetter" else letters.upper()
    if style in ("lowerRoman", "upperRoman") and 0 < count <= _LARGEST:
        roman = _roman(count)
        return roman if style == "lowerRoman" else roman.upper()
    if style == "ordinal":
        return f"{count}{_ordinal(count)}"
    if style in _CHINESE and 0 < count < 10_000:
        return _chinese(count)
    if style in _ALPHABETS and 0 < count <= len(_ALPHABETS[style]):
        return _ALPHABETS[style][count - 1]
    if style in _DIGITS:
        return str(count).translate(_DIGITS[style])
    return f"{count:02}" if style == "decimalZero" else str(count)


def _chinese(count: int) -> str:
    """`二十三`; a zero stands for any number of places that are left out."""
    found = ""
    for place, unit in enumerate(("千", "百", "十", "")):
        digit = count // 10 ** (3 - place) % 10
        if digit:
            found += _HAN[digit] + unit
        elif found and not found.endswith(_HAN[0]):
            found += _HAN[0]
    found = found.rstrip(_HAN[0])
    return found[1:] if 10 <= count < 20 else found


def _ordinal(count: int) -> str:
    """The ending of an English ordinal."""
    if count // 10 % 10 == 1:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")


def _roman(count: int) -> str:
    found = ""
    for size, letters in _ROMAN:
        repeats, count = divmod(count, size)
        found += letters * repeats
    return found
