"""The main program of a parser process: answers requests from standard input, one at a time.

process.py starts it as `python -m ingest.sandbox.child OPTIONS` (messages.StartOptions). It enters
its jail (jail.py) before it reads any file. The first file that needs a heavy library imports it;
it stays loaded for later files.
"""

import gc
import logging
import os
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ingest.errors import Permanent, Transient
from ingest.formats import catalog
from ingest.model import Document, OcrSettings
from ingest.optional_steps import recording
from ingest.page_words import Recognised
from ingest.sandbox import limits, page_views, protocol
from ingest.sandbox.chunk_steps import chunked, without_furniture
from ingest.sandbox.installation_check import check
from ingest.sandbox.jail import Jail
from ingest.sandbox.messages import (
    ATTACHMENT_BYTES,
    MOST_ATTACHMENTS,
    Answer,
    CheckRequest,
    LocateRequest,
    Parsed,
    ParseRequest,
    Rechunked,
    RechunkRequest,
    RenderRequest,
    SitemapRead,
    SitemapRequest,
    Unpacked,
    UnpackRequest,
)
from ingest.sandbox.protocol import LENGTH

if TYPE_CHECKING:
    from PIL.Image import Image

    from ingest.formats.common.input_file import Recogniser

# A parser that a file has taken over must not fill the disk.
_LARGEST_FILE = 64 * 1024 * 1024


def main() -> None:
    """Serve until the parent closes the pipe."""
    options = protocol.decode_start(sys.argv[1])
    limits.apply_limits(memory=options.memory, parent=options.parent)
    # Parsers create many objects that live as long as their file. With default thresholds, garbage
    # collection takes a third of a PDF's time.
    gc.set_threshold(100_000, 20, 50)
    logging.disable()  # nobody reads the parsers' warnings
    requests, replies = _take_over_pipes()
    files = socket.socket(fileno=options.channel)
    jail = Jail(
        mode=options.mode,
        scratch=options.scratch,
        readable=tuple(options.readable),
        executable=tuple(options.executable),
    )
    if not options.after_check:
        jail.enter()
    catalog.load_extensions(options.formats)
    _send(replies, protocol.frame({"ready": True}))
    while (head := requests.read(LENGTH.size)) and len(head) == LENGTH.size:
        body = requests.read(LENGTH.unpack(head)[0])
        _send(replies, _answer(body, replies, files, jail))


def _take_over_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The parent's pipes, moved away from stdin and stdout, which libraries may use."""
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    return os.fdopen(requests, "rb"), os.fdopen(replies, "wb", buffering=0)


def _answer(body: bytes, replies: BinaryIO, files: socket.socket, jail: Jail) -> bytes:
    number, cpu_seconds, request = protocol.decode_request(body)
    limits.allow_cpu(cpu_seconds)
    progress = _ProgressReporter(replies, cpu_seconds)
    failure: Permanent | Transient
    try:
        with recording() as skipped:
            if isinstance(request, CheckRequest):
                answer: Answer = check(jail)
            else:
                with _receive(files) as file:
                    answer = _carry_out(file, request, progress)
        found = skipped.found()
        return protocol.encode_answer(
            answer, resident=limits.resident(), number=number, skipped=found
        )
    except (Permanent, Transient) as error:
        failure = error
    except MemoryError:
        failure = Permanent("Reading the file took too much memory.", code="parser_memory")
    except Exception as error:  # a bug: extraction handles its own errors
        failure = Transient(
            f"internal error in the parser process ({type(error).__name__})", code="internal"
        )
    found = skipped.found()
    return protocol.encode_failure(
        failure, resident=limits.resident(), number=number, skipped=found
    )


@dataclass(slots=True)
class _ProgressReporter:
    """Sends progress frames to the parent before the answer."""

    replies: BinaryIO
    cpu_seconds: float
    _stage: str = ""
    _sent_at: float = 0.0

    def restart_limits(self, stage: str = "extract") -> None:
        """Restart the CPU and wall-clock limits after a long step, before the next one."""
        limits.allow_cpu(self.cpu_seconds)
        now = time.monotonic()
        # Small members of an archive take less than a millisecond each.
        if stage != self._stage or now - self._sent_at >= protocol.NOTE_SECONDS:
            self._stage, self._sent_at = stage, now
            _send(self.replies, protocol.note(stage))


def _receive(files: socket.socket) -> BinaryIO:
    """The file that the parent has opened: no path of it can be opened in the jail."""
    _, (descriptor,), _, _ = socket.recv_fds(files, 1, 1)
    os.set_inheritable(descriptor, False)
    return os.fdopen(descriptor, "rb")


def _carry_out(
    file: BinaryIO,
    request: ParseRequest
    | UnpackRequest
    | RechunkRequest
    | SitemapRequest
    | RenderRequest
    | LocateRequest,
    progress: _ProgressReporter,
) -> Answer:
    if isinstance(request, ParseRequest):
        return _parse(file, request, progress)
    if isinstance(request, UnpackRequest):
        return _unpack(file, request, progress)
    if isinstance(request, SitemapRequest):
        return _read_sitemap(file, request)
    if isinstance(request, RenderRequest):
        return page_views.render(file, request)
    if isinstance(request, LocateRequest):
        return page_views.locate(file, request)
    return _rechunk(file, request)


def _parse(file: BinaryIO, request: ParseRequest, progress: _ProgressReporter) -> Parsed:
    # Imported here because the parent imports other modules of this package without the parsers.
    from ingest.formats.archives.inflate import is_compressed
    from ingest.formats.archives.members import FolderSink
    from ingest.formats.registry import extract

    sink = None
    if request.members is not None:
        sink = FolderSink(
            Path(request.members),
            max_members=MOST_ATTACHMENTS,
            max_bytes=ATTACHMENT_BYTES,
            max_member_bytes=_LARGEST_FILE,
        )
    started = time.perf_counter()
    with limits.file_size_limit(request.max_inflated if is_compressed(file) else _LARGEST_FILE):
        document = extract(
            file,
            name=request.name,
            declared=request.declared,
            max_pages=request.max_pages,
            url=request.url,
            ocr=_recogniser(request.ocr, progress.restart_limits),
            members=sink,
            max_inflated=request.max_inflated,
        )
    extracted = time.perf_counter()
    progress.restart_limits("chunk")
    with recording() as skipped:
        document = without_furniture(document, request)
        document, chunks = chunked(document, request.chunk)
    return Parsed(
        document=skipped.noted_in(document),
        chunks=chunks,
        extract_seconds=extracted - started,
        chunk_seconds=time.perf_counter() - extracted,
        members=tuple(sink.members) if sink else (),
    )


def _recogniser(
    settings: OcrSettings | None, on_picture: Callable[[], None]
) -> "Recogniser | None":
    if settings is None:
        return None
    from ingest.providers.ocr.factory import build_recogniser

    recogniser = build_recogniser(settings)
    return None if recogniser is None else _Reported(recogniser, on_picture)


class _Reported:
    """A recogniser that calls `on_picture` after each picture."""

    def __init__(self, recogniser: "Recogniser", on_picture: Callable[[], None]) -> None:
        self._recogniser = recogniser
        self._on_picture = on_picture

    @property
    def name(self) -> str:
        return self._recogniser.name

    def read(self, image: "Image") -> str:
        return self.recognise(image).text

    def recognise(self, image: "Image") -> Recognised:
        try:
            return self._recogniser.recognise(image)
        finally:
            self._on_picture()


def _unpack(file: BinaryIO, request: UnpackRequest, progress: _ProgressReporter) -> Unpacked:
    from ingest.formats.archives.members import FolderSink
    from ingest.formats.archives.unpack import unpack

    sink = FolderSink(
        Path(request.folder),
        max_members=request.max_members,
        max_bytes=request.max_bytes,
        max_member_bytes=request.max_member_bytes,
    )
    with limits.file_size_limit(request.max_member_bytes):
        skipped = unpack(file, name=request.name, sink=sink, on_member=progress.restart_limits)
    return Unpacked(members=tuple(sink.members), skipped=skipped)


def _rechunk(file: BinaryIO, request: RechunkRequest) -> Rechunked:
    text = file.read().decode()
    document = Document(text=text, media_type="text/markdown", extractor="", pages=request.pages)
    document, chunks = chunked(document, request.chunk)
    return Rechunked(chunks=chunks, language=document.language)


def _read_sitemap(file: BinaryIO, request: SitemapRequest) -> SitemapRead:
    from ingest.formats.xml.sitemap import read

    return SitemapRead(sitemap=read(file.read(), base=request.base, limit=request.limit))


def _send(replies: BinaryIO, frame: bytes) -> None:
    view = memoryview(frame)
    while view:
        view = view[replies.write(view) :]


if __name__ == "__main__":
    main()
