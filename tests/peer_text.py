"""Reads files with a general library: paths as lines on standard input, texts as JSON on output.

Usage: PYTHON tests/peer_text.py {xberg|markitdown}. Needs nothing but that library.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable


def _xberg() -> Callable[[str], str]:
    import xberg

    config = xberg.ExtractionConfig(
        use_cache=False, disable_ocr=True, enable_quality_processing=False, output_format="markdown"
    )

    def read(path: str) -> str:
        found = asyncio.run(xberg.extract(xberg.ExtractInput(kind="uri", uri=path), config)).results
        return "\n\n".join(result.content for result in found)

    return read


def _markitdown() -> Callable[[str], str]:
    from markitdown import MarkItDown  # type: ignore[import-not-found]  # in its own environment

    converter = MarkItDown()
    return lambda path: str(converter.convert(path).markdown)


def main() -> None:
    """Answer until the input ends; whatever a library raises is an empty text with an error."""
    read = {"xberg": _xberg, "markitdown": _markitdown}[sys.argv[1]]()
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is not an answer
    for line in sys.stdin:
        try:
            answer = {"text": read(line.rstrip("\n"))}
        except BaseException as error:  # Rust panics do not derive from Exception
            answer = {"text": "", "error": type(error).__name__}
        out.write(json.dumps(answer) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
