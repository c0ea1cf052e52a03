"""What the formats of this project add over the best general libraries, on the corpus of corpus.py.

Usage: python -m tests.format_gain MANIFEST [--markitdown PYTHON]

Prints a row per file type, with the figures of this project / xberg / markitdown (given the
interpreter of an environment that has `markitdown[all]`): phrases found; files with the right
outcome, which is text or, where the manifest expects an error, none; headings and rows of tables
in the Markdown. The last column counts the files in which this project reports hidden text or
sheets. Each library runs in a process of its own and gets a minute per file.
"""

import argparse
import asyncio
import json
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from tests.corpus import Row, load_norm, read_manifest, run

_SCRIPT = Path(__file__).with_name("peer_text.py")
_SECONDS = 60
_LONGEST_LINE = 256 * 1024 * 1024


@dataclass(slots=True)
class Gain:
    """What one reader gets out of the files of one type."""

    phrases: int = 0
    right: int = 0
    headings: int = 0
    rows: int = 0

    def add(self, row: Row, text: str, *, found: int) -> None:
        """Count one file."""
        self.phrases += found
        self.right += "ok" in row.allowed if text.strip() else bool(row.allowed - {"ok"})
        lines = text.splitlines()
        self.headings += sum(line.startswith("#") for line in lines)
        self.rows += sum(
            line.startswith("| ") or (line.startswith("- ") and ": " in line) for line in lines
        )


class Peer:
    """A library that reads one file after the other; its process is replaced if it dies."""

    def __init__(self, name: str, python: str) -> None:
        self._command = (python, str(_SCRIPT), name)
        self._process: asyncio.subprocess.Process | None = None

    async def read(self, path: Path) -> str:
        """The text of a file; empty if the library fails or takes too long."""
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                limit=_LONGEST_LINE,
            )
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None
        assert answers is not None
        try:
            requests.write(f"{path}\n".encode())
            async with asyncio.timeout(_SECONDS):
                text: str = json.loads(await answers.readline())["text"]
        except (TimeoutError, ValueError, OSError):
            await self.close()
            return ""
        return text

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            await process.wait()


async def measure(manifest: Path, peers: list[Peer]) -> None:
    """Read all files with all readers, and print the table."""
    folder = manifest.parent
    phrase_found = load_norm(folder)
    rows = read_manifest(manifest, [], with_ocr=False)
    gains: dict[str, list[Gain]] = defaultdict(lambda: [Gain() for _ in range(len(peers) + 1)])
    hidden: dict[str, int] = defaultdict(int)
    for result in await run(folder, rows, phrase_found, None):
        found = len(result.row.phrases) - len(result.missing)
        gains[result.row.type][0].add(result.row, result.text, found=found)
        hidden[result.row.type] += any(code.startswith("hidden_") for code in result.warnings)
    for number, peer in enumerate(peers, start=1):
        for row in rows:
            text = await peer.read(folder / row.path)
            found = sum(phrase_found(text, phrase) for phrase in row.phrases)
            gains[row.type][number].add(row, text, found=found)
        await peer.close()
    print("| type | files | phrases | found | right outcome | headings | table rows | hidden |")
    print("|---|---|---|---|---|---|---|---|")
    for kind, own in gains.items():
        mine = [row for row in rows if row.type == kind]
        columns = [
            " / ".join(str(getattr(gain, name)) for gain in own)
            for name in ("phrases", "right", "headings", "rows")
        ]
        phrases = sum(len(row.phrases) for row in mine)
        print(f"| {kind} | {len(mine)} | {phrases} | {' | '.join(columns)} | {hidden[kind]} |")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--markitdown", metavar="PYTHON", help="interpreter that has markitdown")
    arguments = parser.parse_args()
    peers = [Peer("xberg", sys.executable)]
    if arguments.markitdown:
        peers.append(Peer("markitdown", arguments.markitdown))
    asyncio.run(measure(arguments.manifest.resolve(), peers))


if __name__ == "__main__":
    main()
