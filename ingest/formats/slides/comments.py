"""Comments on slides: classic and threaded."""

from lxml import etree

from ingest.formats.common.markdown import plain
from ingest.formats.office.opc import Package


def comments(package: Package, presentation: str, slide: str) -> list[str]:
    """`Comment by author: text`, in order; replies follow their comment."""
    found: list[str] = []
    names: dict[str, str] | None = None
    for part in package.related(slide, "comments"):
        root = package.find_xml(part)
        if root is None:
            continue
        names = _authors(package, presentation) if names is None else names
        for comment in root.iter("{*}cm", "{*}reply"):
            text = " ".join(_text(comment).split())
            if text:
                author = names.get(comment.get("authorId", ""), "")
                found.append(
                    plain(f"Comment by {author}: {text}" if author else f"Comment: {text}")
                )
    return found


def _authors(package: Package, presentation: str) -> dict[str, str]:
    found = {}
    for kind in ("commentAuthors", "authors"):
        for part in package.related(presentation, kind):
            root = package.find_xml(part)
            for item in root.iter("{*}cmAuthor", "{*}author") if root is not None else ():
                found[item.get("id", "")] = item.get("name", "")
    return found


def _text(comment: etree._Element) -> str:
    for child in comment.iterchildren("{*}text", "{*}txBody"):
        if child.text and child.text.strip():
            return str(child.text)
        return " ".join(item.text or "" for item in child.iter("{*}t"))
    return ""
