"""PowerPoint presentations: one part per slide, with its notes and comments.

Read: titles, text, tables, charts, SmartArt, equations, alternative text of pictures, speaker
notes, comments, hidden slides (listed in the metadata). Embedded documents become members. Not
read: text of masters and layouts, slide numbers and dates that PowerPoint fills in, pictures.

python-pptx is not used: it rejects strict packages and packages with a missing part; and charts,
SmartArt, comments and positions would need the XML anyway.
"""

from collections.abc import Callable, Iterator

from lxml import etree

from ingest.errors import Permanent
from ingest.formats.common import inflate_limit
from ingest.formats.common.input_file import Extraction, InputFile, filled, present
from ingest.formats.common.markdown import numbered_slide, plain
from ingest.formats.office import ole_package
from ingest.formats.office.blocks import comment_text, one_line
from ingest.formats.office.drawing_text import name_links, paragraph_text
from ingest.formats.office.graphics import Graphics, slide_table
from ingest.formats.office.opc import Package, resolve_alternate_content
from ingest.formats.office.xml_tree import attribute, local, words
from ingest.formats.slides.shapes import Layouts, Place, Slide, slide_text
from ingest.model import Step
from ingest.optional_steps import improve

_VERSION = "pptx 5"
_MOST_LISTED = 200


def extract(source: InputFile) -> Extraction:
    """Extract one part per slide, in presentation order; None for a broken slide."""
    inflate_limit.guard(source.stream, inflate_limit.TREES)
    package = Package(source.stream)
    main = package.main("ppt/presentation.xml")
    slides = _slide_parts(package, main, source.max_pages)
    reader = _SlideReader(package, main)
    read = [reader.read(part) for part in slides]
    parts = [text and numbered_slide(text, number) for number, text in enumerate(read, start=1)]
    attachments = improve(
        "attachments", lambda: _hand_over(package, slides, source), otherwise=list
    )
    properties = improve("metadata", package.properties, otherwise=dict[str, str])
    title = properties.pop("title", None)
    lists = filled(
        hiddenSlides=[slides.index(part) + 1 for part in reader.hidden],
        attachments=attachments,
        unreadableParts=list(package.broken)[:_MOST_LISTED],
    )
    return Extraction(
        parts=parts,
        extractor=_VERSION,
        paged=True,
        unread=frozenset(
            index
            for index, part in enumerate(parts)
            if part is not None and not part.strip() and slides[index] in reader.pictured
        ),
        title=title,
        metadata=properties | lists,
        warnings=present(hidden_slides=reader.hidden, parts_unreadable=package.broken),
    )


def _slide_parts(package: Package, main: str, most: int) -> list[str]:
    """Part names of the slides in presentation order, without duplicates; empty if missing."""
    relations = package.relations(main)
    ids = [attribute(item, "id") or "" for item in package.xml(main).iter("{*}sldId")]
    if len(ids) > most:
        raise Permanent(
            f"The presentation has {len(ids)} slides; at most {most} are read.",
            code="too_many_pages",
        )
    targets = [relations[key].target if key in relations else "" for key in ids]
    return list(dict.fromkeys(targets))


class _SlideReader:
    """Reads the slides of a presentation; collects which are hidden or hold pictures."""

    def __init__(self, package: Package, main: str) -> None:
        self._package = package
        self._main = main
        self._layouts = Layouts(package)
        self._footers: set[str] = set()
        self.hidden: list[str] = []
        self.pictured: set[str] = set()

    def read(self, part: str) -> str | None:
        """Markdown of a slide; None if it is missing or broken."""
        root = self._package.find_xml(part)
        if root is None:
            return None
        resolve_alternate_content(root)
        if root.get("show") in ("0", "false"):
            self.hidden.append(part)
        if next(root.iter("{*}blip"), None) is not None:
            self.pictured.add(part)
        pieces = [
            *improve("layout", lambda: self._shapes(root, part), otherwise=lambda: _plain(root)),
            *self._beside("notes", lambda: list(self._notes(part)), "notesSlide", part),
            *self._beside(
                "comments", lambda: _comments(self._package, self._main, part), "comments", part
            ),
        ]
        return "\n\n".join(pieces)

    def _shapes(self, root: etree._Element, part: str) -> list[str]:
        relations = self._package.relations(part)
        name_links(root, relations)
        slide = Slide(
            graphics=Graphics(self._package, relations),
            places=improve(
                "reading_order", lambda: self._layouts.places(part), otherwise=dict[str, Place]
            ),
            footers=self._footers,
        )
        return slide_text(root, slide)

    def _beside(
        self, step: Step, read: Callable[[], list[str]], kind: str, slide: str
    ) -> list[str]:
        """Notes or comments of a slide; their plain words if `read` fails."""

        def plain_parts() -> list[str]:
            roots = map(self._package.find_xml, self._package.related(slide, kind))
            return [text for root in roots if root is not None for text in _plain(root)]

        return improve(step, read, otherwise=plain_parts)

    def _notes(self, part: str) -> Iterator[str]:
        for notes in self._package.related(part, "notesSlide"):
            root = self._package.find_xml(notes)
            if root is None:
                continue
            resolve_alternate_content(root)
            name_links(root, self._package.relations(notes))
            text = "\n\n".join(_note_texts(root)).strip()
            if text:
                yield f"Notes: {text}"


def _plain(root: etree._Element) -> list[str]:
    """Fallback: the words of a part whose structure cannot be read."""
    return [plain(text)] if (text := words(root).strip()) else []


def _note_texts(root: etree._Element) -> Iterator[str]:
    """Paragraphs of the speaker notes, without other placeholders such as the slide number."""
    for shape in root.iter("{*}sp", "{*}graphicFrame"):
        if local(shape) == "graphicFrame":
            yield from slide_table(shape)
            continue
        placeholder = next(shape.iter("{*}ph"), None)
        if placeholder is not None and placeholder.get("type") not in (None, "body"):
            continue
        for paragraph in shape.iter("{*}p"):
            text = paragraph_text(paragraph).strip()
            if text:
                yield plain(text)


def _hand_over(package: Package, slides: list[str], source: InputFile) -> list[dict[str, object]]:
    """Hand each embedded document over once as a member; returns the list for the metadata."""
    found: dict[str, None] = {}
    for slide in slides:
        for kind in ("package", "oleObject"):
            found.update(dict.fromkeys(package.related(slide, kind)))
    return ole_package.hand_over(found, package.open, source.members)


def _comments(package: Package, presentation: str, slide: str) -> list[str]:
    """`Comment by author: text`, in order; replies follow their comment."""
    found: list[str] = []
    names: dict[str, str] | None = None
    for part in package.related(slide, "comments"):
        root = package.find_xml(part)
        if root is None:
            continue
        names = _comment_authors(package, presentation) if names is None else names
        for comment in root.iter("{*}cm", "{*}reply"):
            author = names.get(comment.get("authorId", ""))
            found.append(comment_text(author, one_line(_comment_text(comment))))
    return list(filter(None, found))


def _comment_authors(package: Package, presentation: str) -> dict[str, str]:
    found = {}
    for kind in ("commentAuthors", "authors"):
        for part in package.related(presentation, kind):
            root = package.find_xml(part)
            for item in root.iter("{*}cmAuthor", "{*}author") if root is not None else ():
                found[item.get("id", "")] = item.get("name", "")
    return found


def _comment_text(comment: etree._Element) -> str:
    for child in comment.iterchildren("{*}text", "{*}txBody"):
        if child.text and child.text.strip():
            return str(child.text)
        return " ".join(item.text or "" for item in child.iter("{*}t"))
    return ""
