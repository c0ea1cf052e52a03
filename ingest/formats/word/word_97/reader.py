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
        if found is None or not (found.text.strip() or found.leaves_out):
            source.stream.seek(0)
            return legacy.extract(source)
        properties = improve("metadata", lambda: summary(ole), otherwise=dict[str, str])
        attachments = improve(
            "attachments",
            lambda: ole_package.hand_over_storages(ole, source.members),
            otherwise=list,
        )
    return Extraction(
        parts=[found.text],
        extractor=document.VERSION,
        title=properties.pop("title", None),
        metadata=dict(properties) | filled(attachments=attachments),
        warnings=present(hidden_text=found.hides_sentence),
    )


def _read(ole: olefile.OleFileIO) -> document.WordText | None:
    if not is_word_97(ole.openstream("WordDocument").read()):
        return None
    return document.read(ole)
