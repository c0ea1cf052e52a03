"""Detects what an OLE container holds, the file format of Office until 2003."""

from collections.abc import Mapping
from functools import cache
from typing import BinaryIO

from ingest.errors import Permanent
from ingest.formats import catalog, unsupported
from ingest.formats.detect.ole_container import OleContainer, open_ole

_USER, _LEAST_USER = "Current User", 28  # bytes of its stream in PowerPoint 97
_LOCKED = ("EncryptedPackage", "\x09DRMContent")


@cache
def _streams() -> Mapping[str, str]:
    """Media type by stream name."""
    declared = {name: each.media_type for each in catalog.formats() for name in each.ole_streams}
    return {**declared, **unsupported.OLE_STREAMS}


def ole_family(file: BinaryIO) -> str:
    """Detect the media type by the streams. Raises Permanent: `encrypted`, `corrupt`."""
    try:
        with open_ole(file) as ole:
            if _is_powerpoint_95(ole):
                return unsupported.POWERPOINT_95
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


def _is_powerpoint_95(ole: OleContainer) -> bool:
    """Whether it has slides, but none as PowerPoint 97 writes them.

    PowerPoint 95 has a stream of its own, or begins `Current User` with the length of the rest.
    """
    if ole.exists("PP40"):
        return True
    if not (ole.exists("PowerPoint Document") and ole.exists(_USER)):
        return False
    user: bytes = ole.openstream(_USER).read()
    is_short = len(user) < _LEAST_USER
    return is_short and int.from_bytes(user[:4], "little") + 4 == len(user)
