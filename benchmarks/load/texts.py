"""Real texts that every Python brings: the modules of its standard library."""

import random
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Final

Files = list[tuple[str, bytes]]

_BYTES: Final = range(4_000, 200_000)
_SEED: Final = 7
_WORDS: Final = 5


def modules() -> Files:
    """Names and contents, in an order that is the same at every call."""
    folder = Path(sysconfig.get_path("stdlib"))
    found = [
        (str(path.relative_to(folder)), path.read_bytes())
        for path in sorted(folder.rglob("*.py"))
        if "site-packages" not in path.parts and path.stat().st_size in _BYTES
    ]
    random.Random(_SEED).shuffle(found)
    return found


def questions(files: Files) -> Iterator[str]:
    """Consecutive words of the files, as people type them into a search field; without end."""
    rng = random.Random(_SEED)
    while True:
        _, content = rng.choice(files)
        words = re.findall(r"[A-Za-z]{3,}", content.decode(errors="replace"))
        start = rng.randrange(max(1, len(words) - _WORDS))
        yield " ".join(words[start : start + _WORDS])
