"""How much of a corpus comes out.

Usage: python tests/corpus.py MANIFEST [--only TYPE …] [--format-table]

MANIFEST is a tab-separated file beside `files/` and `norm.py` (phrase_found), with the columns
path, type, expected and phrases. Files of the handled types go through the parser pool, as in the
service. Exit code 1 below 95 % of phrases or with any outcome that was not expected.
"""

import argparse
import asyncio
import csv
import importlib.util
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from ingest.errors import Permanent, Transient
from ingest.model import ChunkSettings
from ingest.sandbox.messages import ParseRequest
from ingest.sandbox.pool import ParserPool

HANDLED = (
    "txt", "md", "html", "pdf", "docx", "pptx", "doc", "ppt", "odt", "odp", "rtf", "csv", "json",
    "jsonl", "ipynb", "eml", "msg", "mbox", "mhtml", "epub",
)  # fmt: skip
TARGET = 0.95
_MEMORY = 2 * 1024**3
_CHUNKS = ChunkSettings(tokenizer="cl100k_base", size=512, overlap=64)
# The manifest's words for our error codes. What only OCR could read is `no_text` without it.
_SAME = {
    "needs_password": {"encrypted"},
    "no_text": {"no_text", "empty_content"},
    "ocr": {"no_text", "unsupported_type"},
    "corrupt": {"corrupt"},
    "ok": {"ok"},
}

PhraseFound = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One file of the manifest."""

    path: str
    type: str
    expected: str
    phrases: tuple[str, ...]

    @property
    def allowed(self) -> set[str]:
        """Outcomes that count as right."""
        return {code for word in self.expected.split("_or_") for code in _SAME.get(word, {word})}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of it."""

    row: Row
    outcome: str
    missing: tuple[str, ...]
    seconds: float

    @property
    def expected(self) -> bool:
        """Whether the outcome is one of those that the manifest allows."""
        return self.outcome in self.row.allowed


def read_manifest(manifest: Path, types: Sequence[str]) -> list[Row]:
    """The files of these types."""
    with manifest.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Row(
            path=line["path"],
            type=line["type"],
            expected=line["expected"],
            phrases=tuple(phrase for phrase in line["phrases"].split(" ¦ ") if phrase.strip()),
        )
        for line in lines
        if line["type"] in types
    ]


def load_norm(folder: Path) -> PhraseFound:
    """The corpus's own comparison."""
    spec = importlib.util.spec_from_file_location("corpus_norm", folder / "norm.py")
    if spec is None or spec.loader is None:
        raise SystemExit(f"no norm.py in {folder}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: PhraseFound = module.phrase_found
    return found


async def run(folder: Path, rows: Sequence[Row], phrase_found: PhraseFound) -> list[Result]:
    """Parse all files, as many at a time as there are processors."""
    pool = ParserPool(size=os.cpu_count() or 1, timeout=timedelta(seconds=60), memory=_MEMORY)
    try:
        return await asyncio.gather(*(_one(pool, folder, row, phrase_found) for row in rows))
    finally:
        await pool.close()


async def _one(pool: ParserPool, folder: Path, row: Row, phrase_found: PhraseFound) -> Result:
    request = ParseRequest(name=Path(row.path).name, declared=None, max_pages=5000, chunk=_CHUNKS)
    text, seconds = "", 0.0
    started = time.perf_counter()
    try:
        parsed = await pool.parse(folder / row.path, request)
        outcome = "ok" if parsed.chunks else "ok without chunks"
        text, seconds = parsed.document.text, parsed.extract_seconds
    except (Permanent, Transient) as error:
        outcome, seconds = error.code, time.perf_counter() - started
    missing = tuple(phrase for phrase in row.phrases if not phrase_found(text, phrase))
    return Result(row=row, outcome=outcome, missing=missing, seconds=seconds)


def report(results: Sequence[Result]) -> bool:
    """Print what was found; True if the target is met."""
    wanted: Counter[str] = Counter()
    found: Counter[str] = Counter()
    files = Counter(result.row.type for result in results)
    right = Counter(result.row.type for result in results if result.expected)
    for result in results:
        wanted[result.row.type] += len(result.row.phrases)
        found[result.row.type] += len(result.row.phrases) - len(result.missing)
    print(f"{'type':8} {'files':>5} {'outcomes':>9} {'phrases':>9}")
    for kind in files:
        print(
            f"{kind:8} {files[kind]:5} {right[kind]:4}/{files[kind]:<4}"
            f" {found[kind]:4}/{wanted[kind]:<4}"
        )
    for result in results:
        if not result.expected:
            print(f"outcome  {result.row.path}: {result.outcome}, not {result.row.expected}")
        for phrase in result.missing:
            print(f"missing  {result.row.path}: {phrase}")
    share = found.total() / max(1, wanted.total())
    print(
        f"{found.total()} of {wanted.total()} phrases ({share:.1%}),"
        f" {right.total()} of {files.total()} outcomes"
    )
    return share >= TARGET and right == files


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--only", nargs="+", metavar="TYPE", default=list(HANDLED))
    parser.add_argument(
        "--format-table", action="store_true", help="one line per file, as Markdown"
    )
    arguments = parser.parse_args()
    # Names of modules beside this script must not hide those of the standard library.
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).parent]
    folder = arguments.manifest.resolve().parent
    rows = read_manifest(arguments.manifest, arguments.only)
    results = asyncio.run(run(folder, rows, load_norm(folder)))
    if arguments.format_table:
        print("| file | expected | outcome | phrases | seconds |\n|---|---|---|---|---|")
        for result in results:
            hits = f"{len(result.row.phrases) - len(result.missing)}/{len(result.row.phrases)}"
            print(
                f"| {result.row.path} | {result.row.expected} | {result.outcome} | {hits}"
                f" | {result.seconds:.2f} |"
            )
    sys.exit(0 if report(results) else 1)


if __name__ == "__main__":
    main()
