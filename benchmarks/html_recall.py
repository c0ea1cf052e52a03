"""How much of the main text of web pages is extracted, and how much other text comes with it.

Usage: python -m benchmarks.html_recall FOLDER [--worst N] [--samples N]

FOLDER contains pairs of files: `NAME.html`, and `NAME.txt` with the page's main text. Both are
compared as bags of words, without Markdown marks and addresses. Recall, precision and F1 are means
over the pages, with 95 % bootstrap intervals. Most reference texts omit the title, dates, captions
and comments, which the service keeps on purpose: they lower precision here.
"""

import argparse
import io
import random
import re
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from ingest.errors import Permanent
from ingest.formats.registry import extract

_WORD = re.compile(r"\w+")
_ADDRESS = re.compile(r"\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"\n]*\")?\)")


class Score(NamedTuple):
    """The score of one page."""

    recall: float
    precision: float
    f1: float
    seconds: float
    name: str


def bag(text: str) -> Counter[str]:
    """The words of a text with their counts."""
    return Counter(_WORD.findall(text.casefold()))


def score(path: Path) -> Score:
    """Extract a page and compare it with its reference text; a page that fails has no words."""
    started = time.process_time()
    try:
        text = extract(io.BytesIO(path.read_bytes()), name=path.name).text
    except Permanent:
        text = ""
    seconds = time.process_time() - started
    found, wanted = bag(_ADDRESS.sub("]", text)), bag(path.with_suffix(".txt").read_text("utf-8"))
    both = (found & wanted).total()
    recall = both / wanted.total() if wanted else 1.0
    precision = both / found.total() if found else float(not wanted)
    f1 = 2 * recall * precision / (recall + precision) if both else float(not wanted)
    return Score(recall, precision, f1, seconds, path.stem)


def interval(values: Sequence[float], samples: int) -> tuple[float, float]:
    """The 95 % bootstrap interval of the mean; deterministic."""
    chance = random.Random(0)
    means = sorted(mean(chance.choices(values, k=len(values))) for _ in range(samples))
    return means[int(0.025 * samples)], means[int(0.975 * samples)]


def report(scores: Sequence[Score], *, worst: int, samples: int) -> None:
    """Print the means, and the pages with the lowest scores."""
    print(f"{len(scores)} pages, {1000 * mean(page.seconds for page in scores):.1f} ms of CPU each")
    for field in ("recall", "precision", "f1"):
        values = [getattr(page, field) for page in scores]
        low, high = interval(values, samples)
        print(f"{field:9} {mean(values):.4f}  [{low:.3f}, {high:.3f}]")
    for field in ("recall", "precision"):
        print(f"lowest {field}:")
        for page in sorted(scores, key=lambda page: getattr(page, field))[:worst]:
            print(f"  {page.recall:.3f} {page.precision:.3f}  {page.name}")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--worst", type=int, default=10)
    parser.add_argument("--samples", type=int, default=1000)
    arguments = parser.parse_args()
    paths = [
        path
        for path in sorted(arguments.folder.glob("*.html"))
        if path.with_suffix(".txt").exists()
    ]
    if not paths:
        parser.error(f"no pairs of .html and .txt in {arguments.folder}")
    with ProcessPoolExecutor() as pool:
        scores = list(pool.map(score, paths, chunksize=4))
    report(scores, worst=arguments.worst, samples=arguments.samples)


if __name__ == "__main__":
    main()
