"""What a file format imports. INGEST_FORMATS names its module; see docs/extending.md.

It imports neither the database nor the network: the parser processes load it.
"""

from ingest.errors import ErrorCode, OwnCode, Permanent
from ingest.formats.common.input_file import Extraction, InputFile, MemberSink, Recogniser
from ingest.formats.declaration import Format
from ingest.formats.encoding.decode import decode
from ingest.model import Encoding

__all__ = [
    "Encoding",
    "ErrorCode",
    "Extraction",
    "Format",
    "InputFile",
    "MemberSink",
    "OwnCode",
    "Permanent",
    "Recogniser",
    "decode",
]
