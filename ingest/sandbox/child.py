"""A parser process: reads requests from standard input, one at a time, answers each.

Started by pool.py as `python -m ingest.sandbox.child MEMORY PARENT`. Heavy libraries are imported
by the first file that needs them and stay warm for the next.
"""

import logging
import os
import sys
import time
from pathlib import Path
from typing import BinaryIO

from ingest.errors import Permanent, Transient
from ingest.model import Chunk, ChunkSettings, Document
from ingest.sandbox import limits, protocol
from ingest.sandbox.protocol import LENGTH, Parsed, ParseRequest


def main() -> None:
    """Serve until the parent closes the pipe."""
    limits.confine(memory=int(sys.argv[1]), parent=int(sys.argv[2]))
    logging.disable()  # parsers log what they find odd; nobody reads it
    requests, replies = _take_over_pipes()
    _send(replies, protocol.frame({"ready": True}))
    while (head := requests.read(LENGTH.size)) and len(head) == LENGTH.size:
        body = requests.read(LENGTH.unpack(head)[0])
        _send(replies, _answer(body, replies))


def _take_over_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The parent's pipes, out of reach of libraries that print or read on their own."""
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    return os.fdopen(requests, "rb"), os.fdopen(replies, "wb", buffering=0)


def _answer(body: bytes, replies: BinaryIO) -> bytes:
    path, cpu_seconds, request = protocol.decode_request(body)
    limits.allow_cpu(cpu_seconds)
    failure: Permanent | Transient
    try:
        parsed = _parse(Path(path), request, replies)
        return protocol.encode_parsed(parsed, resident=limits.resident())
    except (Permanent, Transient) as error:
        failure = error
    except MemoryError:
        failure = Permanent("Reading the file took too much memory.", code="parser_memory")
    except Exception as error:  # a fault of ours: extraction has its own net
        failure = Transient(f"{type(error).__name__} in the parser process", code="internal")
    return protocol.encode_failure(failure, resident=limits.resident())


def _parse(path: Path, request: ParseRequest, replies: BinaryIO) -> Parsed:
    # Imported here: the parent imports this module's neighbours without the parsers.
    from ingest.pipeline.extract.registry import extract

    started = time.perf_counter()
    with path.open("rb") as file:
        document = extract(
            file,
            name=request.name,
            declared=request.declared,
            max_pages=request.max_pages,
            url=request.url,
        )
    extracted = time.perf_counter()
    _send(replies, protocol.frame({"stage": "chunk"}))
    chunks = _chunk(document, request.chunk)
    return Parsed(
        document=document,
        chunks=chunks,
        extract_seconds=extracted - started,
        chunk_seconds=time.perf_counter() - extracted,
    )


def _chunk(document: Document, settings: ChunkSettings) -> list[Chunk]:
    from ingest.pipeline.chunk import chunk
    from ingest.pipeline.tokenizers import load_tokenizer

    tokenizer = load_tokenizer(settings.tokenizer)
    return chunk(document, tokenizer=tokenizer, size=settings.size, overlap=settings.overlap)


def _send(replies: BinaryIO, frame: bytes) -> None:
    view = memoryview(frame)
    while view:
        view = view[replies.write(view) :]


if __name__ == "__main__":
    main()
