"""Different text files of similar size, made from text that comes with every Python."""

import random
import re
from pydoc_data.topics import topics


def text_files(count: int, *, seed: int, size: int = 7500) -> list[tuple[str, bytes]]:
    """`count` different files of about `size` bytes: shuffled sentences of Python's manual."""
    rng = random.Random(seed)
    manual = " ".join(" ".join(topics.values()).split())
    sentences = [sentence for sentence in re.split(r"(?<=[.:]) ", manual) if len(sentence) > 30]
    files = []
    for number in range(count):
        parts = [f"# Document {number} of round {seed}\n\n"]
        while sum(map(len, parts)) < size:
            parts.append(rng.choice(sentences) + ("\n\n" if rng.random() < 0.15 else " "))
        files.append((f"round-{seed}/{number}.md", "".join(parts).encode()))
    return files
