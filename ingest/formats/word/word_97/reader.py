"""Reads .doc files: Word 97 and newer here, older and damaged ones as office/legacy.py does."""

import io
from collections.abc import Iterator

import olefile

from ingest.formats.common.input_file import Extraction, InputFile, filled, present
from ingest.formats.office import graph_97, legacy, ole_package
from ingest.formats.office.ole_properties import summary
from ingest.formats.word.word_97 import document
from ingest.formats.word.word_97.file import is_word_97
from ingest.optional_steps import improve

_POOL, _GRAPH = "ObjectPool", "Workbook"
_LARGEST = 32 * 1024 * 1024  # bytes of all charts; in hostile files, thousands share the same


def extract(source: InputFile) -> Extraction:
    """Extract one part. Raises Permanent `encrypted`."""
    data = source.stream.read()
    with olefile.OleFileIO(io.BytesIO(data)) as ole:
        legacy.refuse_encrypted(ole)
        found = improve("layout", lambda: _read(ole), otherwise=lambda: None)
        attachments: list[dict[str, object]] = improve(
            "attachments",
            lambda: ole_package.hand_over_storages(ole, source.members),
            otherwise=list,
        )
        charts = improve("graphics", lambda: list(_charts(ole)), otherwise=list[str])
        source.stream.seek(0)
        if found is None:
            return legacy.extract(source).with_attachments(attachments)
        properties = improve("metadata", lambda: summary(ole), otherwise=dict[str, str])
    read = Extraction(
        parts=["\n\n".join([found.text, *charts])],
        extractor=document.VERSION,
        title=properties.pop("title", None),
        metadata=dict(properties) | filled(attachments=attachments),
        warnings=present(hidden_text=found.hides_sentence),
    )
    if found.text.strip() or charts or found.leaves_out:
        return read
    # Perhaps a piece of the text was missed; for the library an empty document is a damaged one.
    return improve(
        "engine",
        lambda: legacy.extract(source).with_attachments(attachments),
        otherwise=lambda: read,
    )


def _charts(ole: olefile.OleFileIO) -> Iterator[str]:
    """Charts of Microsoft Graph: each has a storage of its own."""
    left = _LARGEST
    for path in ole.listdir():
        if path[0] != _POOL or path[-1] != _GRAPH:
            continue
        left -= ole.get_size(path)
        text = graph_97.chart(ole.openstream(path).read()) if left >= 0 else ""
        if text:
            yield text


def _read(ole: olefile.OleFileIO) -> document.WordText | None:
    if not is_word_97(ole.openstream("WordDocument").read()):
        return None
    return document.read(ole)
