"""A signed file (CMS, `contract.pdf.p7m`) is read as the file or message that was signed."""

import io
import posixpath
import re
from typing import BinaryIO, Final

from ingest.errors import Permanent
from ingest.formats.archives.inflation import file_size
from ingest.formats.common.signed_data import is_encrypted, name_inside, signed_content

_MIB: Final = 1024 * 1024
_LARGEST: Final = 192  # MiB; it is held in memory twice
_MESSAGE: Final = re.compile(
    rb"\s*(?:[A-Za-z-]+:[^\n]*\n(?:[ \t][^\n]*\n)*){0,20}?Content-Type:", re.I
)


def open_signed(file: BinaryIO, name: str | None) -> tuple[BinaryIO, str]:
    """The signed content, and its name.

    Raises Permanent: `encrypted`, `too_large`, `empty_content` (a signature alone, certificates).
    """
    if file_size(file) > _LARGEST * _MIB:
        raise Permanent(f"The signed file is larger than {_LARGEST} MiB.", code="too_large")
    data = file.read()
    content = signed_content(data)
    if content is None:
        if is_encrypted(data):
            raise Permanent("The file is encrypted (S/MIME).", code="encrypted")
        raise Permanent("It is a signature without what was signed.", code="empty_content")
    return io.BytesIO(content), _name(name or "", content)


def _name(name: str, content: bytes) -> str:
    suffix = ".eml" if _MESSAGE.match(content) else ""
    return name_inside(name) or f"{posixpath.splitext(name)[0] or 'signed'}{suffix}"
