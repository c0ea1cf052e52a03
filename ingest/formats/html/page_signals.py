"""Reads from a page's tree what tells placeholders from content, and where it sends readers on."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from lxml import etree, html

from ingest.formats.html.text_stats import INLINE, word_set
from ingest.web.placeholders import LONGEST, PageSignals
from ingest.web.urls import join, normalise

_NOT_READ = word_set(
    "script style template noscript nav aside footer select svg iframe object head datalist"
)
_ROLES = word_set("navigation banner contentinfo complementary search menu menubar")
_BANNER = re.compile(
    r"cookie|consent|gdpr|dsgvo|onetrust|didomi|usercentrics|borlabs|truste|sp_message|cc-window",
    re.IGNORECASE,
)
_ROOTS = word_set(
    "root app application __next __nuxt ___gatsby __layout svelte ember main-app react-root vue-app"
    " app-root react-app reactapp vueapp spa spa-root app-container app-mount mount elm sapper"
)
_MAY_BE_ROOT = etree.XPath(
    "//body//*[@id] | //body/*[contains(name(), '-')] | //*[@ng-app or @data-ng-app or @ng-view or"
    " @data-ng-view or @ui-view or @data-reactroot or @data-v-app or @ng-version]"
)
_LOGIN_NAME = re.compile(
    r"e-?mail|user|login|account|benutzer|kennung|identifiant|usuario|utente|gebruiker",
    re.IGNORECASE,
)
_FEW = 30  # characters: "Loading, please wait"
_MOST_LABELS = 200
_MOST_INSPECTED = 20  # roots, and `noscript`; nested ones would take quadratic time
_MOST_ELEMENTS = 20_000
_REFRESH = re.compile(
    r"\s*(\d{0,6})(?:\.\d*)?\s*[;,\s]\s*(?:url\s*=\s*)?(?:\"([^\"]*)|'([^']*)|(.*))",
    re.IGNORECASE | re.DOTALL,
)
_AT_ONCE = 1  # seconds: nobody can read the page
_SOON = 30  # seconds
_SHORT = 500  # characters of a page that says where it has moved
_SHORTER = 150
_LOCATION = re.compile(
    r"(?<![\w.$])(?:(?:window|document|self|top|parent)\s*\.\s*)*location\s*"
    r"(?:\.\s*href\s*)?(?:=\s*|\.\s*(?:replace|assign)\s*\(\s*)(?:\"([^\"\s]+)\"|'([^'\s]+)')"
)
_CONDITION = re.compile(
    r"\bif\b|\?[^\"']*:|\bswitch\b|addEventListener|onclick|navigator|cookie|localStorage|&&|\|\|"
)
_MOST_SCRIPT = 2_000  # characters


@dataclass(slots=True, kw_only=True)
class Scripts:
    """What scripts and `meta refresh` would do with the page."""

    has_any: bool = False
    has_empty_root: bool = False
    noscript: str = ""
    refresh: str | None = None
    """Target of a `meta refresh`."""
    delay: int = 0
    """Seconds until then."""
    is_fallback: bool = False
    """It is meant for readers without scripts."""
    location: str | None = None
    """Target to which a script sends all readers."""


def read_scripts(tree: html.HtmlElement) -> Scripts:
    """Call it before hidden elements and scripts are removed from the tree."""
    found = Scripts()
    inline = []
    for script in tree.iter("script"):
        if (script.get("type") or "module").lower().endswith(("javascript", "module", "babel")):
            found.has_any = True
            inline.append(script.text or "")
    found.has_empty_root = found.has_any and any(
        map(_is_empty, islice(_roots(tree), _MOST_INSPECTED))
    )
    found.noscript = " ".join(
        " ".join(element.text_content().split())
        for element in islice(tree.iter("noscript"), _MOST_INSPECTED)
    )
    for meta in tree.iter("meta"):
        content = meta.get("content") or ""
        is_refresh = (meta.get("http-equiv") or "").strip().lower() == "refresh"
        parts = _REFRESH.match(content) if is_refresh else None
        target = parts and (parts[2] or parts[3] or parts[4] or "").strip()
        if parts and target and found.refresh is None:
            found.refresh, found.delay = target, int(parts[1] or 0)
            found.is_fallback = next(meta.iterancestors("noscript"), None) is not None
    found.location = _location("\n".join(inline))
    return found


def _location(code: str) -> str | None:
    if len(code) > _MOST_SCRIPT or _CONDITION.search(code):
        return None
    targets = {match[1] or match[2] for match in _LOCATION.finditer(code)}
    return targets.pop() if len(targets) == 1 else None


def _roots(tree: html.HtmlElement) -> Iterator[html.HtmlElement]:
    for element in _MAY_BE_ROOT(tree):
        name = element.get("id")
        if name is None or name.lower() in _ROOTS or "-" in element.tag:
            yield element


def _is_empty(element: html.HtmlElement) -> bool:
    size = 0
    for inner in element.iter(etree.Element):
        if inner.tag in ("img", "video", "input", "table", "h1", "p", "iframe"):
            return False
        if inner.tag not in ("script", "style", "noscript", "template"):
            size += len((inner.text or "").strip())
        size += len((inner.tail or "").strip()) if inner is not element else 0
        if size > _FEW:
            return False
    return True


def refresh_target(scripts: Scripts, signals: PageSignals | None, url: str) -> str | None:
    """Where the page sends its readers on; None if it stays, or has text that they may read."""
    length = LONGEST if signals is None else sum(map(len, signals.lines))
    has_form = signals is not None and (signals.has_password or signals.has_text_area)
    target = None
    if scripts.refresh is not None:
        most = _SHORTER if scripts.is_fallback else _SHORT
        is_read = scripts.delay > _SOON or length > most
        if not is_read or (scripts.delay <= _AT_ONCE and not scripts.is_fallback):
            target = scripts.refresh
    if target is None and length <= _SHORTER and not has_form:
        target = scripts.location
    if target is None:
        return None
    try:
        found = join(url, target)
        return None if normalise(found) == normalise(url) else found
    except ValueError:
        return None


def read_signals(tree: html.HtmlElement, title: str | None, scripts: Scripts) -> PageSignals | None:
    """Call it after hidden elements were removed; None for a page with much text."""
    reader = _Reader()
    for body in tree.iter("body"):
        if not reader.read(body):
            return None
    headings = reader.headings["h1"] or reader.headings["h2"]
    others = reader.headings["h2"] if reader.headings["h1"] else []
    return PageSignals(
        title=tree.findtext(".//head/title") or title or "",
        headings=headings,
        lines=[*reader.lines, *others],
        form_lines=reader.form_lines,
        banner_lines=reader.banner_lines,
        labels=reader.labels,
        noscript=scripts.noscript,
        has_password=reader.has_password,
        has_login_name=reader.has_login_name,
        has_text_area=reader.has_text_area,
        has_scripts=scripts.has_any,
        has_empty_root=scripts.has_empty_root,
    )


@dataclass(slots=True)
class _Reader:
    """Collects the visible text of a page, block by block."""

    lines: list[str] = field(default_factory=list)
    form_lines: list[str] = field(default_factory=list)
    banner_lines: list[str] = field(default_factory=list)
    headings: dict[str, list[str]] = field(default_factory=lambda: {"h1": [], "h2": []})
    labels: list[str] = field(default_factory=list)
    has_password: bool = False
    has_login_name: bool = False
    has_text_area: bool = False
    _pieces: list[str] = field(default_factory=list)
    _size: int = 0
    _inside: list[html.HtmlElement] = field(default_factory=list)
    """The open forms, banners and headings, outermost first."""

    def read(self, body: html.HtmlElement) -> bool:
        """Read the page; False as soon as there is much text."""
        walk = etree.iterwalk(body, events=("start", "end"))
        for number, (event, element) in enumerate(walk):
            if number > 2 * _MOST_ELEMENTS:
                return False
            if not isinstance(element.tag, str):
                continue
            if event == "start":
                if element is not body and _is_skipped(element):
                    walk.skip_subtree()
                else:
                    self._start(element)
            else:
                self._end(element, is_last=element is body)
            if self._size > LONGEST:
                return False
        return True

    def _start(self, element: html.HtmlElement) -> None:
        tag = element.tag
        if tag not in INLINE:
            self._flush()
        if tag in ("form", "h1", "h2") or _is_banner(element):
            self._inside.append(element)
        if tag == "input":
            self._read_field(element)
        elif tag == "textarea":
            self.has_text_area = True
        elif tag in ("a", "button") and len(self.labels) < _MOST_LABELS:
            self.labels.append(" ".join(element.text_content()[:_SHORT].split()))
        if tag != "textarea":
            self._pieces.append(element.text or "")

    def _end(self, element: html.HtmlElement, *, is_last: bool) -> None:
        if element.tag not in INLINE:
            self._flush()
        if self._inside and self._inside[-1] is element:
            self._inside.pop()
        if not is_last:
            self._pieces.append(element.tail or "")

    def _flush(self) -> None:
        line = " ".join("".join(self._pieces).split())
        self._pieces.clear()
        if not line:
            return
        tags = [element.tag for element in self._inside]
        if any(map(_is_banner, self._inside)):
            self.banner_lines.append(line)
            return
        if tags and tags[-1] in self.headings:
            self.headings[tags[-1]].append(line)
        elif "form" in tags:
            self.form_lines.append(line)
        else:
            self.lines.append(line)
        self._size += len(line)

    def _read_field(self, element: html.HtmlElement) -> None:
        kind = (element.get("type") or "text").lower()
        if kind in ("submit", "button"):
            self.labels.append(element.get("value") or "")
        elif kind == "password":
            self.has_password = True
        elif kind in ("text", "email", "tel"):
            named = " ".join(
                element.get(key) or "" for key in ("name", "id", "autocomplete", "type")
            )
            self.has_login_name |= _LOGIN_NAME.search(named) is not None


def _is_skipped(element: html.HtmlElement) -> bool:
    tag = element.tag
    if tag in _NOT_READ or element.get("role") in _ROLES:
        return True
    return tag == "header" and next(element.iterancestors("main", "article", "form"), None) is None


def _is_banner(element: html.HtmlElement) -> bool:
    if element.tag in ("body", "main", "article", "html"):
        return False
    return _BANNER.search(f"{element.get('id') or ''} {element.get('class') or ''}") is not None
