"""Which declarations of a style keep people from seeing an element?"""

import re

from ingest.formats.html.styles import Declarations

_ZERO = re.compile(r"(?:0+(?:\.0*)?|\.0+)(?:[a-z]+|%)?")
_TINY = re.compile(r"(?:0+(?:\.0*)?|\.0+)(?:[a-z]+|%)?|1px")
_FAR = re.compile(r"-(?:[5-9]\d\d|\d{4,})(?:\.\d*)?(?:px|pt)?|-\d{3,}(?:\.\d*)?(?:r?em|v[wh]|%)")
_NOTHING_LEFT = re.compile(
    r"rect\(([01])(?:px)?(?:[\s,]+\1(?:px)?){3}\)|inset\((?:50|100)%.*|circle\(0.*"
)
_POSITIONS = {("position", "absolute"), ("position", "fixed")}
_EDGES = {"left", "top", "right", "bottom"}
_SIDES = {"height", "max-height", "width", "max-width"}
_CUT = {
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
"""What a body of declarations holds, if any of it hides: a quick look, not the answer."""


def not_shown(declarations: Declarations) -> set[str]:
    """Names of the declarations by which the element takes no part in the page."""
    gone = {("display", "none"), ("visibility", "hidden"), ("visibility", "collapse")}
    return {name for name, _ in declarations & gone}


def faint(declarations: Declarations) -> set[str]:
    """Names of those by which it is there, but transparent, without size, off screen, cut away."""
    found = {name for name, value in declarations if _is_nothing(name, value)}
    is_positioned = bool(declarations & _POSITIONS)
    for name, value in declarations:
        is_far = _FAR.fullmatch(value) is not None
        is_cut = _NOTHING_LEFT.fullmatch(value) is not None
        if (name == "text-indent" and is_far) or (name == "clip-path" and is_cut):
            found.add(name)
        if is_positioned and ((name in _EDGES and is_far) or (name == "clip" and is_cut)):
            found.add(name)
    return found | _without_size(declarations)


def _is_nothing(name: str, value: str) -> bool:
    return name in ("opacity", "font-size") and _ZERO.fullmatch(value) is not None


def _without_size(declarations: Declarations) -> set[str]:
    """A box of no size that cuts its content off; padding gives it one all the same."""
    if not declarations & _CUT:
        return set()
    if any(
        name.startswith("padding") and not _ZERO.fullmatch(value) for name, value in declarations
    ):
        return set()
    return {name for name, value in declarations if name in _SIDES and _TINY.fullmatch(value)}
