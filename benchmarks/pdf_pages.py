"""PDF pages per second: a bare loop of pypdfium2 compared with the parser pool.

Usage: python -m benchmarks.pdf_pages FOLDER [--rounds N] [--processes N]

Both read every PDF below FOLDER that pdfium can open, from disk. The loop runs in one process, the
pool in `--processes` (default: one per processor, as in the service). Rounds alternate, and the
best round of each counts. The pool's time includes the pipes and the checks of the answers. Two
ratios are printed, with and without the time for chunking, which the bare loop does not do.
"""

import argparse
import asyncio
import os
import time
from datetime import timedelta
from pathlib import Path

from pypdfium2 import PdfDocument, PdfiumError

from ingest.errors import Permanent
from ingest.model import ChunkSettings
from ingest.sandbox.messages import ParseRequest
from ingest.sandbox.pool import ParserPool

_MEMORY = 2 * 1024**3
_CHUNKS = ChunkSettings(tokenizer="wordllama", size=512, overlap=0)


def bare(path: Path) -> int:
    """Read all pages of a file; returns their number, 0 if pdfium cannot open the file."""
    try:
        document = PdfDocument(path)
    except PdfiumError:
        return 0
    read = 0
    for index in range(len(document)):
        try:
            page = document[index]
        except PdfiumError:
            continue
        text_page = page.get_textpage()
        text_page.get_text_range()
        text_page.close()
        page.close()
        read += 1
    document.close()
    return read


async def pooled(pool: ParserPool, path: Path) -> float:
    """Read one file through the pool; returns the seconds spent on chunking."""
    request = ParseRequest(
        name=path.name, declared=None, max_pages=100_000, chunk=_CHUNKS, ocr=None
    )
    try:
        return (await pool.parse(path, request)).chunk_seconds
    except Permanent:  # for example a PDF of pictures; its time counts too
        return 0.0


async def all_pooled(pool: ParserPool, paths: list[Path], processes: int) -> tuple[float, float]:
    """Seconds for all files; then the same without chunking, which all processes share."""
    started = time.perf_counter()
    chunking = sum(await asyncio.gather(*(pooled(pool, path) for path in paths)))
    seconds = time.perf_counter() - started
    return seconds, seconds - chunking / processes


async def compare(paths: list[Path], rounds: int, processes: int) -> None:
    """Print pages per second of both, and their ratio."""
    readable = [path for path in paths if bare(path)]
    pages = sum(map(bare, readable))
    bares, pools = [], []
    pool = ParserPool(size=processes, timeout=timedelta(minutes=5), memory=_MEMORY)
    try:
        await all_pooled(pool, readable, processes)  # warm up: processes start and import only once
        for _ in range(rounds):
            started = time.perf_counter()
            for path in readable:
                bare(path)
            bares.append(time.perf_counter() - started)
            pools.append(await all_pooled(pool, readable, processes))
    finally:
        await pool.close()
    bare_rate, pool_rate = pages / min(bares), pages / min(seconds for seconds, _ in pools)
    alike_rate = pages / min(seconds for _, seconds in pools)
    print(f"{len(readable)} files, {pages} pages, best of {rounds} rounds")
    print(f"bare loop of pypdfium2  {bare_rate:7.1f} pages/s")
    print(f"parser pool             {pool_rate:7.1f} pages/s, processes: {processes}")
    print(f"ratio                   {pool_rate / bare_rate:7.2f}")
    print(f"ratio, chunking left out{alike_rate / bare_rate:7.2f}")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    # Largest first, so that no process is left with a large file at the end.
    found = arguments.folder.rglob("*.pdf")
    paths = sorted(found, key=lambda path: path.stat().st_size, reverse=True)
    if not paths:
        parser.error(f"no PDFs in {arguments.folder}")
    asyncio.run(compare(paths, arguments.rounds, arguments.processes))


if __name__ == "__main__":
    main()
