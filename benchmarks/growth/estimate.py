"""The arithmetic of docs/scale.md: computes its figures from its inputs.

    python -m benchmarks.growth.estimate [--write]

It reads the document's tables. A row of four cells is an input; a row of five has a formula over
symbols of rows above it (`| symbol | value | unit | formula | what |`). Prints the symbols whose
value differs from the formula's result; `--write` corrects the values. So an input is changed in
one place, and no figure in the document is a guess.
"""

import argparse
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Final

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "scale.md"
_INPUT_CELLS: Final = 4
_FORMULA_CELLS: Final = 5
_FUNCTIONS: Final = {"log": math.log, "ceil": math.ceil, "__builtins__": {}}


def recomputed(text: str) -> str:
    """The document with the values that follow from its inputs."""
    known: dict[str, float] = {}
    return "\n".join(_line(line, known) for line in text.split("\n"))


def _line(line: str, known: dict[str, float]) -> str:
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    if not line.startswith("| `") or len(cells) not in (_INPUT_CELLS, _FORMULA_CELLS):
        return line
    symbol = cells[0].strip("`")
    if len(cells) == _INPUT_CELLS:
        known[symbol] = float(cells[1].replace(",", ""))
        return line
    known[symbol] = _value(cells[3].strip("`"), known)
    return f"| {cells[0]} | {_figure(known[symbol])} | {' | '.join(cells[2:])} |"


def _value(formula: str, known: Mapping[str, float]) -> float:
    # The document is trusted, and its formulas can only use its symbols.
    return float(eval(formula, dict(_FUNCTIONS), dict(known)))


def _figure(value: float) -> str:
    """A number with two significant digits: the inputs are no more precise."""
    if value >= 10:
        digits = len(str(int(value)))
        return f"{round(value, 2 - digits):,.0f}"
    return f"{value:.2g}"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="correct the document")
    arguments = parser.parse_args()
    before = DOCUMENT.read_text()
    after = recomputed(before)
    for old, new in zip(before.split("\n"), after.split("\n"), strict=True):
        if old != new:
            print(f"- {old}\n+ {new}")
    if arguments.write:
        DOCUMENT.write_text(after)


if __name__ == "__main__":
    main()
