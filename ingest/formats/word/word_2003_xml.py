"""Word 2003 documents in XML (WordprocessingML before standardisation)."""

from lxml import etree

from ingest.formats.common.inflate_limit import guard_xml
from ingest.formats.common.input_file import Extraction, InputFile, present
from ingest.formats.office.blocks import child_texts
from ingest.formats.office.xml_tree import child, parse
from ingest.formats.word.body import WordBody
from ingest.formats.word.numbering import Numbering
from ingest.formats.word.runs import Runs
from ingest.formats.word.styles import WordStyles
from ingest.optional_steps import improve

_VERSION = "word_xml 1"
_PROPERTIES = {"Title": "title", "Author": "author", "Created": "created", "Subject": "subject"}


def extract(source: InputFile) -> Extraction:
    """Read headings, paragraphs and tables; list numbers are not read."""
    data = source.stream.read()
    guard_xml(data)
    root = parse(data)
    body = WordBody(
        styles=improve(
            "styles", lambda: WordStyles(child(root, "styles")), otherwise=lambda: WordStyles(None)
        ),
        numbering=Numbering(None),
        runs=Runs({}, drop_faint=False),
        show=_nothing,
    )
    content = child(root, "body")
    properties = improve(
        "metadata",
        lambda: child_texts(child(root, "DocumentProperties"), _PROPERTIES),
        otherwise=dict[str, str],
    )
    title = properties.pop("title", None)
    return Extraction(
        parts=["\n\n".join(body.read(content) if content is not None else [])],
        extractor=_VERSION,
        title=title,
        metadata=dict(properties),
        warnings=present(hidden_text=body.hidden.has_sentence),
    )


def _nothing(_: etree._Element) -> list[str]:
    return []
