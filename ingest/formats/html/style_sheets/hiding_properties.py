"""The CSS declarations that keep readers from seeing an element."""

import re

from ingest.formats.html.style_sheets.styles import Declarations

_ZERO = re.compile(r"(?:0+(?:\.0*)?|\.0+)(?:[a-z]+|%)?")
_TINY = re.compile(r"(?:0+(?:\.0*)?|\.0+)(?:[a-z]+|%)?|1px")
_OFF_SCREEN = re.compile(
    r"-(?:[5-9]\d\d|\d{4,})(?:\.\d*)?(?:px|pt)?|-\d{3,}(?:\.\d*)?(?:r?em|v[wh]|%)"
)
_CLIPPED_AWAY = re.compile(
    r"rect\(([01])(?:px)?(?:[\s,]+\1(?:px)?){3}\)|inset\((?:50|100)%.*|circle\(0.*"
)
_POSITIONS = {("position", "absolute"), ("position", "fixed")}
_EDGES = {"left", "top", "right", "bottom"}
_SIDES = {"height", "max-height", "width", "max-width"}
_CLIPPING = {
    ("overflow", "hidden"),
    ("overflow", "clip"),
    ("overflow-x", "hidden"),
    ("overflow-y", "hidden"),
}

MAY_HIDE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*[0.]|font-size\s*:\s*[0.]"
    r"|text-indent\s*:\s*-|(?:left|top|right|bottom)\s*:\s*-\d{3}|clip(?:-path)?\s*:"
    r"|(?:height|width)\s*:\s*[01.]",
    re.IGNORECASE,
)
"""Matches every rule body that may hide an element, and some that do not: a quick filter."""


def not_rendered(declarations: Declarations) -> set[str]:
    """Names of the properties that remove the element from the page."""
    hiding = {("display", "none"), ("visibility", "hidden"), ("visibility", "collapse")}
    return {name for name, _ in declarations & hiding}


def unreadable(declarations: Declarations) -> set[str]:
    """Names of the properties that make it transparent, tiny, off screen or clipped."""
    found = {
        name
        for name, value in declarations
        if name in ("opacity", "font-size") and _ZERO.fullmatch(value)
    }
    is_positioned = bool(declarations & _POSITIONS)
    for name, value in declarations:
        is_off_screen = _OFF_SCREEN.fullmatch(value) is not None
        is_clipped = _CLIPPED_AWAY.fullmatch(value) is not None
        if (name == "text-indent" and is_off_screen) or (name == "clip-path" and is_clipped):
            found.add(name)
        if is_positioned and (is_off_screen if name in _EDGES else name == "clip" and is_clipped):
            found.add(name)
    return found | _without_size(declarations)


def _without_size(declarations: Declarations) -> set[str]:
    """A box without size that clips its content; padding would give it a size."""
    if not declarations & _CLIPPING:
        return set()
    if any(
        name.startswith("padding") and not _ZERO.fullmatch(value) for name, value in declarations
    ):
        return set()
    return {name for name, value in declarations if name in _SIDES and _TINY.fullmatch(value)}
