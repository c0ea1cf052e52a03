"""Plain text unchanged; Markdown, code, subtitles, calendars and markup by their structure."""

from functools import partial

from ingest.formats import catalog
from ingest.formats import media_types as types
from ingest.formats.common.calendar import calendar_text, is_calendar
from ingest.formats.common.input_file import Extraction, InputFile
from ingest.formats.common.letter_order import is_visual, logical_text
from ingest.formats.common.markdown import plain
from ingest.formats.encoding.charset_labels import declarations
from ingest.formats.encoding.decode import decode
from ingest.formats.text.markdown import read_markdown
from ingest.formats.text.markup import reader_of
from ingest.formats.text.numbered_sections import with_sections
from ingest.formats.text.reading import Reading, lines_of
from ingest.formats.text.source_code import programming_language, read_code
from ingest.formats.text.subtitles import is_subtitles, read_subtitles
from ingest.formats.text.vcard import is_contacts, read_contacts
from ingest.optional_steps import improve

_VERSION = "text 6"


def extract(source: InputFile) -> Extraction:
    """Extract the decoded text as one part, with the title and the metadata that it states."""
    data = source.stream.read()
    text, encoding = decode(data, declared=source.declared)
    if is_visual(text, encoding, is_declared=bool(declarations(data, source.declared))):
        text = improve("right_to_left", partial(logical_text, text), otherwise=lambda: text)
    reading = improve("markup", lambda: _read(text, source), otherwise=lambda: Reading(text=text))
    return Extraction(
        parts=[reading.text],
        extractor=_VERSION,
        title=reading.title,
        encoding=encoding,
        metadata=reading.metadata,
    )


def _read(text: str, source: InputFile) -> Reading:
    suffix = catalog.text_suffix(source.name)
    if source.media_type == types.MARKDOWN:
        return read_markdown(text, has_components=suffix == ".mdx")
    if source.media_type != types.TEXT:
        return Reading(text=text)
    language = programming_language(text, source.name)
    if language is not None:
        return read_code(text, language=language, name=source.name)
    if is_subtitles(text, suffix):
        return read_subtitles(text)
    if is_calendar(text):
        events = calendar_text("\n".join(lines_of(text)))
        return Reading(text=plain(events) if events else text)
    if is_contacts(text):
        return read_contacts("\n".join(lines_of(text)))
    read = reader_of(suffix)
    if read is not None:
        return read(text)
    return Reading(text=improve("headings", lambda: with_sections(text), otherwise=lambda: text))
