"""The table of file types in docs/formats.md, from what the formats declare.

`python -m tests.format_table` prints it.
"""

import sys

from ingest.formats import catalog


def format_table() -> str:
    """Markdown: one row per format, in the order of the families."""
    rows = [
        f"| {declared.label} | `{declared.media_type}` | {declared.suffixes or '(by content)'} |"
        for declared in catalog.formats()
    ]
    return "\n".join(["| file | media type | endings |", "|---|---|---|", *rows])


if __name__ == "__main__":
    sys.stdout.write(format_table() + "\n")
