"""Files that are embedded in workbooks."""

import re
import zipfile
from functools import partial
from typing import BinaryIO, Final, cast

import olefile

from ingest.formats import media_types as types
from ingest.formats.common.input_file import InputFile
from ingest.formats.office import ole_package

_PART: Final = re.compile(r"xl/embeddings/[^/]+", re.IGNORECASE)


def hand_over(source: InputFile) -> list[dict[str, object]]:
    """Hand them over as members; returns the list for the metadata. Rewinds the stream."""
    try:
        if source.media_type == types.XLS:
            if source.stream.read(len(olefile.MAGIC)) != olefile.MAGIC:
                return []  # Excel 2 to 4
            source.stream.seek(0)
            with olefile.OleFileIO(source.stream) as ole:
                return ole_package.hand_over_storages(ole, source.members)
        if source.media_type in (types.XLSX, types.XLSB):
            with zipfile.ZipFile(source.stream) as package:
                parts = filter(_PART.fullmatch, package.namelist())
                return ole_package.hand_over(parts, partial(_opened, package), source.members)
        return []
    finally:
        source.stream.seek(0)


def _opened(package: zipfile.ZipFile, part: str) -> BinaryIO:
    return cast("BinaryIO", package.open(part))
