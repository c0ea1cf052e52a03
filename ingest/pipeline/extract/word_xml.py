"""Word 2003 documents in XML (WordprocessingML before it became a standard)."""

from lxml import etree

from ingest.improve import improve
from ingest.pipeline.extract.archive import guard_xml
from ingest.pipeline.extract.docx_body import Body
from ingest.pipeline.extract.docx_numbering import Numbering
from ingest.pipeline.extract.docx_runs import Runs
from ingest.pipeline.extract.docx_styles import Styles
from ingest.pipeline.extract.office_xml import child, parse
from ingest.pipeline.extract.source import Extraction, Source

_VERSION = "word_xml 1"
_PROPERTIES = {"Title": "title", "Author": "author", "Created": "created", "Subject": "subject"}


def extract(source: Source) -> Extraction:
    """Headings, paragraphs and tables of the document; numbers of lists are not read."""
    data = source.stream.read()
    guard_xml(data)
    root = parse(data)
    body = Body(
        styles=improve(
            "styles", lambda: Styles(child(root, "styles")), otherwise=lambda: Styles(None)
        ),
        numbering=Numbering(None),
        runs=Runs({}, drop_faint=False),
        show=_nothing,
    )
    content = child(root, "body")
    properties = improve(
        "metadata",
        lambda: _properties(child(root, "DocumentProperties")),
        otherwise=dict[str, str],
    )
    title = properties.pop("title", None)
    return Extraction(
        parts=["\n\n".join(body.read(content) if content is not None else [])],
        extractor=_VERSION,
        title=title,
        metadata=dict(properties),
        warnings=("hidden_text",) if body.has_hidden_text else (),
    )


def _nothing(_: etree._Element) -> list[str]:
    return []


def _properties(root: etree._Element | None) -> dict[str, str]:
    found = {}
    for theirs, ours in _PROPERTIES.items():
        item = child(root, theirs)
        if item is not None and item.text and item.text.strip():
            found[ours] = item.text.strip()
    return found
