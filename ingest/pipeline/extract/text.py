"""Plain text as it is; Markdown, source code, subtitles and other markup with their structure."""

from pathlib import PurePosixPath

from ingest.improve import improve
from ingest.pipeline import mediatypes as types
from ingest.pipeline.decode import decode
from ingest.pipeline.extract.source import Extraction, Source
from ingest.pipeline.extract.source_code import programming_language, read_code
from ingest.pipeline.extract.text_markdown import read_markdown
from ingest.pipeline.extract.text_markup import reader_of
from ingest.pipeline.extract.text_reading import Reading
from ingest.pipeline.extract.text_subtitles import is_subtitles, read_subtitles

_VERSION = "text 2"


def extract(source: Source) -> Extraction:
    """The decoded text as one part, with the title and the metadata that it states."""
    text, encoding = decode(source.stream.read(), declared=source.declared)
    reading = improve("markup", lambda: _read(text, source), otherwise=lambda: Reading(text=text))
    return Extraction(
        parts=[reading.text],
        extractor=_VERSION,
        title=reading.title,
        encoding=encoding,
        metadata=reading.metadata,
    )


def _read(text: str, source: Source) -> Reading:
    if source.media_type == types.MARKDOWN:
        return read_markdown(text)
    if source.media_type != types.TEXT:
        return Reading(text=text)
    language = programming_language(text, source.name)
    if language is not None:
        return read_code(text, language=language, name=source.name)
    suffix = PurePosixPath(source.name or "").suffix.lower()
    if is_subtitles(text, suffix):
        return read_subtitles(text)
    read = reader_of(suffix)
    return read(text) if read else Reading(text=text)
