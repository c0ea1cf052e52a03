"""MathML on one line, as equations of Office documents: `x=(-b±√(b^2-4ac))/(2a)`."""

import unicodedata
from collections.abc import Callable, Sequence

from lxml import etree, html

_DEEP = 60  # levels; deeper symbols are concatenated
_SKIPPED = frozenset({"annotation", "annotation-xml", "mphantom", "rp"})
_INVISIBLE = dict.fromkeys(range(0x2061, 0x2065))
_ACCENTS = dict(
    zip(
        "^\u02c6~\u02dc\xaf\u203e\u2015_\u02d9.\xa8→\u02c7\u02d8\xb4`",
        "\u0302\u0302\u0303\u0303\u0305\u0305\u0305\u0305\u0307\u0307\u0308\u20d7\u030c\u0306\u0301\u0300",
        strict=True,
    )
)
_BRACES = frozenset("⏞⏟⏜⏝︷︸")
_ROOTS = {"": "√", "2": "√", "3": "∛", "4": "∜"}
_HIGH = str.maketrans("0123456789nik-+", "⁰¹²³⁴⁵⁶⁷⁸⁹ⁿⁱᵏ⁻⁺")
_FENCES = frozenset("([{|⟨‖∥⌈⌊")
_BUILT = frozenset("/^_√∛∜")
_FACTORS = frozenset("(√∛∜∑∏∫")
_PRIMES = frozenset("\u2032\u2033\u2034\u2057'*†")

_Parts = Sequence[str]


def math_text(math: html.HtmlElement) -> str:
    """A formula as text, with fractions, powers, roots, and rows of matrices behind semicolons."""
    return " ".join(_text(math, 0).split())


def _text(element: html.HtmlElement, depth: int) -> str:
    if depth > _DEEP:
        return _plain("".join(element.itertext()))
    name = _name(element)
    children = [child for child in element.iterchildren(etree.Element) if _is_shown(child)]
    if name == "mtable":
        return _table(element, children, depth)
    parts = [_text(child, depth + 1) for child in children]
    if name == "mfenced":
        return _fenced(element, parts)
    if name == "mfrac" and element.get("linethickness", "").rstrip("ptxem") == "0":
        return f"binom({','.join(parts)})"
    if name in _BUILDERS and len(parts) > 1:
        return _BUILDERS[name](parts)
    if name == "msqrt":
        return f"√{_grouped(_joined(parts))}"
    if name == "mspace":
        return " "
    if name == "semantics":
        return parts[0] if parts else ""
    tails = [_plain(child.tail or "").strip() for child in children]
    own = element.text or ""
    texts = [_plain(own if name == "mtext" else own.strip())]
    for part, tail in zip(parts, tails, strict=True):
        texts += [part, tail]
    return _joined(texts)


def _name(element: html.HtmlElement) -> str:
    return str(element.tag).rpartition("}")[2].rpartition(":")[2]


def _is_shown(element: html.HtmlElement) -> bool:
    return _name(element) not in _SKIPPED


def _plain(text: str) -> str:
    """Without invisible operators; mathematical letters as plain ones."""
    text = text.translate(_INVISIBLE)
    return text if text.isascii() else "".join(map(_letter, text))


def _letter(character: str) -> str:
    is_styled = "\U0001d400" <= character <= "\U0001d7ff" or character == "\u210e"
    return unicodedata.normalize("NFKC", character) if is_styled else character


def _joined(parts: _Parts) -> str:
    """Words, powers and fractions end before the next factor: `sin x`, `x^2 y`, `1/n (a+b)`."""
    text = before = ""
    for part in filter(None, parts):
        if _ends_before(before, part):
            text += " "
        text += part
        before = part
    return text


def _ends_before(before: str, part: str) -> bool:
    if before[-1:].isalnum() and part[0].isalnum():
        is_word = any(len(one) > 1 and one.isalpha() for one in (before, part))
        return is_word or not _BUILT.isdisjoint(before)
    return "/" in before and part[0] in _FACTORS


def _grouped(text: str) -> str:
    text = text.strip()
    if len(text) <= 1 or text.isalnum() or _is_in_parentheses(text):
        return text
    return f"({text})"


def _is_in_parentheses(text: str) -> bool:
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[0] == "(" and at == len(text) - 1
    return False


def _fraction(parts: _Parts) -> str:
    return f"{_grouped(parts[0])}/{_grouped(parts[1])}"


def _root(parts: _Parts) -> str:
    index = parts[1].strip()
    sign = _ROOTS.get(index)
    if sign is None:
        raised = index.translate(_HIGH)
        is_raised = not any(map(str.isascii, raised))
        sign = f"{raised}√" if is_raised else f"root_{_grouped(index)} "
    return f"{sign}{_grouped(parts[0])}"


def _power(parts: _Parts) -> str:
    return _base(parts[0]) + _above(parts[1])


def _index(parts: _Parts) -> str:
    return _base(parts[0]) + _below(parts[1])


def _index_and_power(parts: _Parts) -> str:
    return _base(parts[0]) + _below(parts[1]) + "".join(map(_above, parts[2:3]))


def _over(parts: _Parts) -> str:
    base, mark = parts[0], parts[1].strip()
    if mark in _ACCENTS and len(base) == 1:
        return unicodedata.normalize("NFC", base + _ACCENTS[mark])
    return base if mark in _ACCENTS or mark in _BRACES else _base(base) + _above(mark)


def _under(parts: _Parts) -> str:
    base, mark = parts[0], parts[1].strip()
    return base if mark in _ACCENTS or mark in _BRACES else _base(base) + _below(mark)


def _under_and_over(parts: _Parts) -> str:
    return _under(parts[:2]) + "".join(map(_above, parts[2:3]))


def _base(text: str) -> str:
    """In parentheses if the power would only be that of its last letter."""
    is_simple = len(text) <= 1 or text.isalnum() or not set(text) & set("+-\u2212=·\u00d7/±,;")
    return text if is_simple else _grouped(text)


def _above(text: str) -> str:
    text = text.strip()
    return text if not text or set(text) <= _PRIMES else f"^{_grouped(text)}"


def _below(text: str) -> str:
    return f"_{_grouped(text)}" if text.strip() else ""


def _fenced(element: html.HtmlElement, parts: _Parts) -> str:
    separators = "".join(element.get("separators", ",").split())
    text = ""
    for at, part in enumerate(parts):
        text += separators[min(at - 1, len(separators) - 1)] if at and separators else ""
        text += part
    return f"{element.get('open', '(')}{text}{element.get('close', ')')}"


def _table(element: html.HtmlElement, rows: Sequence[html.HtmlElement], depth: int) -> str:
    """Rows of a matrix with commas, aligned lines of an equation without; labels behind."""
    before = element.getprevious()
    is_matrix = before is not None and "".join(before.itertext()).strip()[-1:] in _FENCES
    lines = []
    for row in rows:
        cells = [_text(cell, depth + 2).strip() for cell in row.iterchildren(etree.Element)]
        if _name(row) == "mlabeledtr":
            cells = [*cells[1:], f" {cells[0]}"] if len(cells) > 1 else cells
        aligned = (f" {cell}" if len(cell) > 1 and cell[:2].isalpha() else cell for cell in cells)
        lines.append(
            ", ".join(filter(None, cells)) if is_matrix else _joined(list(aligned)).strip()
        )
    return "; ".join(filter(None, lines))


_BUILDERS: dict[str, Callable[[_Parts], str]] = {
    "mfrac": _fraction,
    "mroot": _root,
    "msup": _power,
    "msub": _index,
    "msubsup": _index_and_power,
    "mover": _over,
    "munder": _under,
    "munderover": _under_and_over,
    "mmultiscripts": _index_and_power,
}
