"""What is in an OLE container, the file format of Office until 2003?"""

from typing import BinaryIO

import olefile

from ingest.errors import Permanent
from ingest.formats import media_types as types

_LOCKED = ("EncryptedPackage", "\x09DRMContent")
_STREAMS = (
    ("WordDocument", types.DOC),
    ("Workbook", types.XLS),
    ("Book", types.XLS),
    ("PowerPoint Document", types.PPT),
    ("__properties_version1.0", types.MSG),
    ("VisioDocument", "application/vnd.visio"),
    ("Quill/QuillSub/CONTENTS", "application/vnd.ms-publisher"),
    ("BodyText/Section0", "application/x-hwp"),
    ("   114/Props", "application/vnd.ms-project"),
    ("\u4840\u3b3f\u43f2\u4438\u45b1", "application/x-msi"),
)


def ole_family(file: BinaryIO) -> str:
    """Media type by the streams of the container. Permanent: `encrypted`, `corrupt`."""
    try:
        with olefile.OleFileIO(file) as ole:
            if any(ole.exists(stream) for stream in _LOCKED):
                raise Permanent("The document is protected by a password.", code="encrypted")
            for stream, media_type in _STREAMS:
                if ole.exists(stream):
                    return media_type
    except Permanent:
        raise
    except Exception as error:  # olefile raises whatever a broken structure leads to
        raise Permanent("The Office container is damaged.", code="corrupt") from error
    return types.OLE
