"""Detects what an OLE container holds, the file format of Office until 2003."""

from collections.abc import Mapping
from functools import cache
from typing import BinaryIO

import olefile

from ingest.errors import Permanent
from ingest.formats import catalog, unsupported

_LOCKED = ("EncryptedPackage", "\x09DRMContent")


@cache
def _streams() -> Mapping[str, str]:
    """Media type by stream name."""
    declared = {name: each.media_type for each in catalog.formats() for name in each.ole_streams}
    return {**declared, **unsupported.OLE_STREAMS}


def ole_family(file: BinaryIO) -> str:
    """Detect the media type by the streams. Raises Permanent: `encrypted`, `corrupt`."""
    try:
        with olefile.OleFileIO(file) as ole:
            if any(ole.exists(stream) for stream in _LOCKED):
                raise Permanent("The document is protected by a password.", code="encrypted")
            for stream, media_type in _streams().items():
                if ole.exists(stream):
                    return media_type
    except Permanent:
        raise
    except Exception as error:  # olefile may raise anything for a broken structure
        raise Permanent("The Office container is damaged.", code="corrupt") from error
    return unsupported.OLE
