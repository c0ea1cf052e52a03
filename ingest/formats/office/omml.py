"""Equations of Office documents (OMML) on one line: `x=(-b±√(b^2-4ac))/(2a)`."""

from collections.abc import Callable

from lxml import etree

from ingest.formats.office.xml_tree import child, local, value

_Parts = list[tuple[str, str]]
_DEEP = 60  # levels; deeper symbols are concatenated


def math_text(element: etree._Element, depth: int = 0) -> str:
    """An equation or a part of one as text, with fractions, powers and roots."""
    if depth > _DEEP:
        return "".join(item.text or "" for item in element.iter("{*}t"))
    name = local(element)
    if name == "t":
        return element.text or ""
    if name.endswith("Pr"):
        return ""
    inner = [(local(item), math_text(item, depth + 1)) for item in element]
    build = _BUILDERS.get(name)
    if build is not None:
        return build(element, inner)
    return "".join(text for _, text in inner)


def _fraction(_: etree._Element, parts: _Parts) -> str:
    return f"{_grouped(_part(parts, 'num'))}/{_grouped(_part(parts, 'den'))}"


def _scripts(_: etree._Element, parts: _Parts) -> str:
    return _part(parts, "e") + _limits(parts)


def _limits(parts: _Parts) -> str:
    below, above = _part(parts, "sub"), _part(parts, "sup")
    return (f"_{_grouped(below)}" if below else "") + (f"^{_grouped(above)}" if above else "")


def _radical(_: etree._Element, parts: _Parts) -> str:
    return f"{_part(parts, 'deg')}√{_grouped(_part(parts, 'e'))}"


def _delimited(element: etree._Element, parts: _Parts) -> str:
    properties = child(element, "dPr")
    opening, closing = (value(child(properties, name)) for name in ("begChr", "endChr"))
    inner = ",".join(text for name, text in parts if name == "e")
    return f"{'(' if opening is None else opening}{inner}{')' if closing is None else closing}"


def _operator(element: etree._Element, parts: _Parts) -> str:
    symbol = value(child(child(element, "naryPr"), "chr")) or "∫"
    return f"{symbol}{_limits(parts)} {_part(parts, 'e')}"


def _matrix(_: etree._Element, parts: _Parts) -> str:
    """Rows as in `[1, 2; 3, 4]`."""
    return "; ".join(text for name, text in parts if name in ("mr", "e"))


def _row(_: etree._Element, parts: _Parts) -> str:
    return ", ".join(text for name, text in parts if name == "e")


def _lower_limit(_: etree._Element, parts: _Parts) -> str:
    return f"{_part(parts, 'e')}_{_grouped(_part(parts, 'lim'))}"


def _upper_limit(_: etree._Element, parts: _Parts) -> str:
    return f"{_part(parts, 'e')}^{_grouped(_part(parts, 'lim'))}"


def _before(_: etree._Element, parts: _Parts) -> str:
    return f"{_limits(parts)} {_part(parts, 'e')}"


def _function(_: etree._Element, parts: _Parts) -> str:
    name, argument = _part(parts, "fName"), _part(parts, "e")
    return f"{name}{argument}" if argument.startswith("(") else f"{name} {argument}"


def _accent(element: etree._Element, parts: _Parts) -> str:
    base = _part(parts, "e")
    mark = value(child(child(element, "accPr"), "chr"))
    return base + ("\u0302" if mark is None else mark) if len(base) == 1 else base


def _part(parts: _Parts, name: str) -> str:
    return "".join(text for key, text in parts if key == name)


def _grouped(text: str) -> str:
    return text if len(text) <= 1 or text.isalnum() else f"({text})"


_BUILDERS: dict[str, Callable[[etree._Element, _Parts], str]] = {
    "f": _fraction,
    "sSup": _scripts,
    "sSub": _scripts,
    "sSubSup": _scripts,
    "rad": _radical,
    "d": _delimited,
    "nary": _operator,
    "m": _matrix,
    "mr": _row,
    "eqArr": _matrix,
    "limLow": _lower_limit,
    "limUpp": _upper_limit,
    "sPre": _before,
    "func": _function,
    "acc": _accent,
}
