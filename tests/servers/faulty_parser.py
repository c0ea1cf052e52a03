"""A parser process with a fault in one step, and with one library that is not installed."""

import sys

from ingest.sandbox import child

if __name__ == "__main__":
    sys.modules["html_to_markdown"] = None  # type: ignore[assignment]  # as if it were not there
    from ingest.formats.pdf import document

    def mark_headings(*_: object) -> None:
        raise IndexError("Pumps")

    vars(document)["mark_headings"] = mark_headings
    child.main()
