"""A program that stands in for tesseract: it writes down what it gets and answers from files."""

from collections.abc import Sequence
from pathlib import Path

_SCRIPT = """#!/bin/sh
here=$(dirname "$0")
case "$1" in
--version) echo "tesseract 9.9.9"; echo " leptonica-1.82.0" ;;
--list-langs) cat "$here/languages" ;;
*)
    echo "$@" > "$here/arguments"
    echo "$4" >> "$here/asked"
    env > "$here/environment"
    cat > "$here/picture.png"
    sleep "$(cat "$here/seconds")"
    if [ -e "$here/table-$4.tsv" ]; then cat "$here/table-$4.tsv"; else cat "$here/table.tsv"; fi
    exit "$(cat "$here/code")"
    ;;
esac
"""
_HEADER = (
    "level", "page_num", "block_num", "par_num", "line_num", "word_num",
    "left", "top", "width", "height", "conf", "text",
)  # fmt: skip


class FakeTesseract:
    """The program in a folder of its own; to be put on the PATH."""

    def __init__(self, folder: Path, *, languages: Sequence[str] = ("eng", "osd")) -> None:
        self.folder = folder
        program = folder / "tesseract"
        program.write_text(_SCRIPT)
        program.chmod(0o755)
        lines = [f"List of available languages ({len(languages)}):", *languages]
        self._put("languages", "\n".join(lines) + "\n")
        self.answers("")

    def answers(self, table: str, *, code: int = 0, seconds: float = 0) -> None:
        """Set what comes out for a picture, and when."""
        self._put("table.tsv", "\t".join(_HEADER) + "\n" + table)
        self._put("code", str(code))
        self._put("seconds", str(seconds))

    def knows(self, languages: str, table: str) -> None:
        """Set what comes out in these languages."""
        self._put(f"table-{languages}.tsv", "\t".join(_HEADER) + "\n" + table)

    def got(self, name: str) -> str:
        """What it was given: `arguments`, `environment`; `asked`: the languages of each call."""
        return (self.folder / name).read_text()

    def _put(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)


def word(text: str, at: tuple[int, int, int], left: int, *, confidence: float = 96) -> str:
    """A row of the table; `at` is block, paragraph and line, the word 10 high and 8 a letter."""
    block, paragraph, line = at
    place = f"5\t1\t{block}\t{paragraph}\t{line}\t1\t{left}\t{20 * line}"
    return f"{place}\t{8 * len(text)}\t10\t{confidence}\t{text}\n"
