"""docs/scale.md says what follows from its inputs."""

import pytest

from benchmarks.growth.estimate import DOCUMENT, recomputed


def test_every_figure_follows_from_the_inputs() -> None:
    text = DOCUMENT.read_text()

    assert recomputed(text) == text


def test_a_formula_uses_what_stands_above_it() -> None:
    table = "| `a` | 1,200 | ms | measured |\n| `b` | 7 | s | `a * 3 / 1000` | what |"

    assert recomputed(table).endswith("| `b` | 3.6 | s | `a * 3 / 1000` | what |")


def test_a_formula_cannot_use_what_is_not_there() -> None:
    with pytest.raises(NameError):
        recomputed("| `b` | 7 | s | `open(a)` | what |")
