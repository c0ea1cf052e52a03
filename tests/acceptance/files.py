"""Files to upload: many, small, each with a sentence of its own."""

import random

_WORDS = (
    *("harbour", "lantern", "copper", "meadow", "orbit", "velvet", "glacier", "thistle"),
    *("anchor", "pepper", "cinder", "marble", "willow", "engine", "feather", "garnet"),
    *("hollow", "island", "jasper", "kettle", "ladder", "magnet", "nectar", "otter"),
)


def sentence(number: int) -> str:
    """The first sentence of file `number`; no other file has it."""
    rng = random.Random(number)
    words = " ".join(rng.choice(_WORDS) for _ in range(5))
    return f"Record {number} tells of the {words} at gate {number * 7919 % 100_003}."


def text_file(number: int, *, paragraphs: int = 1) -> tuple[str, bytes]:
    """Path and content of file `number`."""
    rng = random.Random(-number)
    body = [" ".join(rng.choice(_WORDS) for _ in range(60)) + "." for _ in range(paragraphs)]
    return f"part-{number % 13}/file-{number}.txt", "\n\n".join([sentence(number), *body]).encode()
