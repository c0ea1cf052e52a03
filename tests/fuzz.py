"""Broken files of all formats: none may end a parser process or raise what nobody foresaw.

Usage: python tests/fuzz.py [--files N] [--seed S] [--corpus FOLDER] [--keep FOLDER]

Every case follows from its number and the seed alone, so that it can be made again. With a corpus
its files are broken too. A case that ends a process or with an unknown error is written to
`--keep`, and the exit code is 1; one that took too much time or memory is written there, too.
"""

import argparse
import asyncio
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from ingest.errors import IsArchive, Permanent, Transient
from ingest.model import ChunkSettings
from ingest.sandbox.messages import ParseRequest, UnpackRequest
from ingest.sandbox.pool import ParserPool
from tests.builders.rich_files import rich_files
from tests.fuzz_mutations import mutate

BAD = frozenset({"parser_crashed", "internal"})
"""Codes that no broken file may end with."""
WORTH_A_LOOK = frozenset({"parser_timeout", "parser_memory"})
"""Codes of files that are much work: few small ones should be."""
_LARGEST = 1024 * 1024
_CHUNKS = ChunkSettings(tokenizer="wordllama", size=256, overlap=32)
_TIMEOUT = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    name: str
    data: bytes


def case(number: int, seed: int, files: Mapping[str, bytes]) -> Case:
    """The broken file of this number."""
    chance = random.Random(f"{seed}/{number}")
    names = sorted(files)
    name = chance.choice(names)
    return Case(name=name, data=mutate(files[name], files[chance.choice(names)], chance))


async def outcome(pool: ParserPool, case: Case, folder: Path) -> str:
    """`ok`, or the code with which the file was refused."""
    path = folder / "file"
    path.write_bytes(case.data)
    (members := folder / "members").mkdir(exist_ok=True)
    request = ParseRequest(
        name=case.name, declared=None, max_pages=200, chunk=_CHUNKS, members=str(members)
    )
    unpacking = UnpackRequest(
        name=case.name,
        folder=str(members),
        max_members=500,
        max_bytes=64 * 1024**2,
        max_member_bytes=64 * 1024**2,
    )
    try:
        try:
            await pool.parse(path, request)
        except IsArchive:
            await pool.unpack(path, unpacking)
    except (Permanent, Transient) as error:
        return error.code
    finally:
        for left in members.iterdir():
            left.unlink()
    return "ok"


async def run(
    numbers: Sequence[int], seed: int, files: Mapping[str, bytes], *, workers: int
) -> list[tuple[int, str]]:
    """Numbers and outcomes of the cases."""
    pool = ParserPool(size=workers, timeout=_TIMEOUT, memory=2 * 1024**3)
    left = iter(numbers)
    found: list[tuple[int, str]] = []

    async def work() -> None:
        with tempfile.TemporaryDirectory() as folder:
            for number in left:
                broken = case(number, seed, files)
                found.append((number, await outcome(pool, broken, Path(folder))))

    try:
        await asyncio.gather(*(work() for _ in range(workers)))
    finally:
        await pool.close()
    return found


def corpus(folder: Path) -> dict[str, bytes]:
    """Files that are small enough to be broken many times."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.stat().st_size <= _LARGEST
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    # Names of modules beside this script must not hide those of the standard library.
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).parent]
    files = rich_files() | (corpus(arguments.corpus) if arguments.corpus else {})
    numbers = range(arguments.files)
    found = asyncio.run(run(numbers, arguments.seed, files, workers=os.cpu_count() or 1))
    for code, count in Counter(code for _, code in found).most_common():
        print(f"{count:7} {code}")
    bad = sorted((number, code) for number, code in found if code in BAD)
    for number, code in sorted(found):
        if code not in BAD | WORTH_A_LOOK:
            continue
        broken = case(number, arguments.seed, files)
        print(f"{code}: case {number} of seed {arguments.seed}, {broken.name}")
        if arguments.keep:
            arguments.keep.mkdir(parents=True, exist_ok=True)
            (arguments.keep / f"{number}-{broken.name}").write_bytes(broken.data)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
