"""How much of a corpus comes out, and what becomes of each file.

Usage: python tests/corpus.py MANIFEST [--only TYPE …] [--ocr] [--format-table]

MANIFEST is a tab-separated file beside `files/` and `norm.py` (phrase_found), with the columns
path, type, expected, phrases and ocr_phrases. Files go through the parser pool, as in the service;
archives and messages with all that is in them. With `--ocr` text in pictures is read by what is
installed. Exit code 1 below 97 % of phrases, with any outcome that was not expected, or with a
parser process above 1 GiB.
"""

import argparse
import asyncio
import csv
import importlib.util
import os
import resource
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from ingest.errors import Permanent, Transient
from ingest.model import OcrSettings
from ingest.providers.ocr.factory import choose
from ingest.sandbox.factory import ocr_program
from ingest.sandbox.jail import Confinement
from ingest.sandbox.pool import ParserPool
from ingest.settings.loading import load_settings
from tests.corpus_reader import Read, Reader

TARGET = 0.97
_MEMORY = 2 * 1024**3
_CEILING = 1024  # MiB of a parser process
# The manifest's words for our error codes.
_SAME = {
    "needs_password": {"encrypted"},
    "no_text": {"no_text", "empty_content"},
    "corrupt": {"corrupt", "archive_unsafe"},
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
    with_ocr: bool

    @property
    def allowed(self) -> set[str]:
        """Outcomes that count as right."""
        words = self.expected.split("_or_")
        # What only OCR could read is `no_text` without it.
        ocr = {"ok"} if self.with_ocr else _SAME["no_text"]
        return {code for word in words for code in (ocr if word == "ocr" else _SAME[word])} | (
            {"ok"} if self.with_ocr and "no_text" in words and self.phrases else set()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of it."""

    row: Row
    outcome: str
    missing: tuple[str, ...]
    seconds: float
    text: str
    warnings: frozenset[str]

    @property
    def expected(self) -> bool:
        """Whether the outcome is one of those that the manifest allows."""
        return self.outcome in self.row.allowed


def read_manifest(manifest: Path, types: Sequence[str], *, with_ocr: bool) -> list[Row]:
    """The files of these types; all if there are none."""
    with manifest.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Row(
            path=line["path"],
            type=line["type"],
            expected=line["expected"],
            phrases=_phrases(line["phrases"]) + (_phrases(line["ocr_phrases"]) if with_ocr else ()),
            with_ocr=with_ocr,
        )
        for line in lines
        if not types or line["type"] in types
    ]


def _phrases(column: str) -> tuple[str, ...]:
    return tuple(phrase for phrase in column.split(" ¦ ") if phrase.strip())


def load_norm(folder: Path) -> PhraseFound:
    """The corpus's own comparison."""
    spec = importlib.util.spec_from_file_location("corpus_norm", folder / "norm.py")
    if spec is None or spec.loader is None:
        raise SystemExit(f"no norm.py in {folder}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: PhraseFound = module.phrase_found
    return found


async def run(
    folder: Path, rows: Sequence[Row], phrase_found: PhraseFound, ocr: OcrSettings | None
) -> list[Result]:
    """Read all files, as many at a time as there are processors."""
    pool = ParserPool(
        size=os.cpu_count() or 1,
        timeout=timedelta(seconds=60),
        memory=_MEMORY,
        confinement=Confinement(program=ocr_program(ocr)),
    )
    reader = Reader(pool, ocr)
    try:
        return await asyncio.gather(*(_one(reader, folder, row, phrase_found) for row in rows))
    finally:
        await pool.close()


async def _one(reader: Reader, folder: Path, row: Row, phrase_found: PhraseFound) -> Result:
    outcome, found = "ok", Read(text="", seconds=0.0, warnings=frozenset())
    try:
        found = await reader.read(folder / row.path)
    except (Permanent, Transient) as error:
        outcome = error.code
    missing = tuple(phrase for phrase in row.phrases if not phrase_found(found.text, phrase))
    return Result(
        row=row,
        outcome=outcome,
        missing=missing,
        seconds=found.seconds,
        text=found.text,
        warnings=found.warnings,
    )


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
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(
        f"{found.total()} of {wanted.total()} phrases ({share:.1%}),"
        f" {right.total()} of {files.total()} outcomes, largest process {peak} MiB"
    )
    return share >= TARGET and right == files and peak <= _CEILING


def table(results: Sequence[Result]) -> None:
    """One line per file, as Markdown."""
    print("| file | expected | outcome | phrases | seconds |\n|---|---|---|---|---|")
    for result in results:
        hits = f"{len(result.row.phrases) - len(result.missing)}/{len(result.row.phrases)}"
        print(
            f"| {result.row.path} | {result.row.expected} | {result.outcome} | {hits}"
            f" | {result.seconds:.2f} |"
        )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--only", nargs="+", metavar="TYPE", default=[])
    parser.add_argument("--ocr", action="store_true", help="read text in pictures, too")
    parser.add_argument(
        "--format-table", action="store_true", help="one line per file, as Markdown"
    )
    arguments = parser.parse_args()
    # Names of modules beside this script must not hide those of the standard library.
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).parent]
    ocr = choose(load_settings()) if arguments.ocr else None
    if arguments.ocr and ocr is None:
        raise SystemExit("nothing is installed that reads text in pictures")
    folder = arguments.manifest.resolve().parent
    rows = read_manifest(arguments.manifest, arguments.only, with_ocr=arguments.ocr)
    results = asyncio.run(run(folder, rows, load_norm(folder), ocr))
    if arguments.format_table:
        table(results)
    sys.exit(0 if report(results) else 1)


if __name__ == "__main__":
    main()
