"""Reads .doc files: Word 97 and newer here, older and damaged ones as office/legacy.py does."""

import io

import olefile

from ingest.formats.common.input_file import Extraction, InputFile, filled, present
from ingest.formats.office import legacy, ole_package
from ingest.formats.office.ole_properties import summary
from ingest.formats.word.word_97 import document
from ingest.formats.word.word_97.file import is_word_97
from ingest.optional_steps import improve


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
        source.stream.seek(0)
        if found is None:
            return legacy.extract(source).with_attachments(attachments)
        properties = improve("metadata", lambda: summary(ole), otherwise=dict[str, str])
    read = Extraction(
        parts=[found.text],
        extractor=document.VERSION,
        title=properties.pop("title", None),
        metadata=dict(properties) | filled(attachments=attachments),
        warnings=present(hidden_text=found.hides_sentence),
    )
    if found.text.strip() or found.leaves_out:
        return read
    # Perhaps a piece of the text was missed; for the library an empty document is a damaged one.
    return improve(
        "engine",
        lambda: legacy.extract(source).with_attachments(attachments),
        otherwise=lambda: read,
    )


def _read(ole: olefile.OleFileIO) -> document.WordText | None:
    if not is_word_97(ole.openstream("WordDocument").read()):
        return None
    return document.read(ole)
