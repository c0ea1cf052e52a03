"""Front matter of journal articles (JATS), as a line of fields instead of single words."""

import itertools
from collections.abc import Iterator

from lxml import etree

_IDS = {"doi": "DOI", "pmid": "PMID", "pmc": "PMC", "pmcid": "PMC"}
_FIELDS = (
    ("volume", "Volume"),
    ("issue", "Issue"),
    ("fpage", "First page"),
    ("lpage", "Last page"),
    ("elocation-id", "Article number"),
)
_TAKEN = ("journal-meta", "article-id", "article-categories", "pub-date", "history", "counts")


def take_front(root: etree._Element) -> dict[str, str]:
    """Fields of the front matter by display name; removes them from the document."""
    meta = root.find(".//{*}article-meta")
    if meta is None:
        return {}
    found: dict[str, str] = {}
    for name, value in _fields(root, meta):
        text = " ".join(value.split())
        if text:
            found.setdefault(name, text)
    taken = {*_TAKEN, *(element for element, _ in _FIELDS)}
    for holder in (*meta.iterancestors("{*}front"), meta):
        for element in holder.findall("{*}*"):
            if etree.QName(element).localname in taken:
                holder.remove(element)
    return found


def authors(root: etree._Element) -> list[str]:
    """Given and family names, in order."""
    found = []
    for name in root.iterfind(".//{*}article-meta//{*}contrib[@contrib-type='author']//{*}name"):
        parts = (name.findtext("{*}given-names"), name.findtext("{*}surname"))
        found.append(" ".join(part.strip() for part in parts if part))
    return found


def _fields(root: etree._Element, meta: etree._Element) -> Iterator[tuple[str, str]]:
    yield "Journal", root.findtext(".//{*}journal-title") or ""
    yield "Publisher", root.findtext(".//{*}publisher-name") or ""
    for identifier in meta.iterfind("{*}article-id"):
        kind = identifier.get("pub-id-type", "")
        if kind in _IDS:
            yield _IDS[kind], identifier.text or ""
    for date in meta.iterfind("{*}pub-date"):
        yield "Published", _date(date)
    for date in meta.iterfind("{*}history/{*}date"):
        yield date.get("date-type", "date").capitalize(), _date(date)
    for element, name in _FIELDS:
        yield name, meta.findtext(f"{{*}}{element}") or ""
    subjects = (subject.text or "" for subject in meta.iterfind(".//{*}subject"))
    yield "Subjects", ", ".join(dict.fromkeys(" ".join(text.split()) for text in subjects))


def _date(element: etree._Element) -> str:
    """ISO 8601, as precise as stated."""
    parts = [element.findtext(f"{{*}}{name}") or "" for name in ("year", "month", "day")]
    stated = itertools.takewhile(bool, (part.strip() for part in parts))
    return "-".join(part.zfill(2) for part in stated)
