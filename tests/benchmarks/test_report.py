"""The report of what was measured."""

from pathlib import Path

from benchmarks.core.report import write_report
from benchmarks.core.results import Goal, Race, Section, load_sections

_SECTION = Section(
    name="some",
    title="Some comparison",
    races=[
        Race(
            title="Seconds",
            unit="s",
            reference="ours",
            rounds={"ours": [2, 4, 3], "slower": [6, 6, 6], "too quick to measure": [0, 0, 0]},
            is_more_better=False,
            absent={"gone": "it does not install"},
        )
    ],
    goals=[
        Goal(text="twice as fast", measured=2.0, at_least=2),
        Goal(text="other", measured=None, at_most=1),
    ],
)


def test_comparison_reports_medians_and_ratios(tmp_path: Path) -> None:
    _SECTION.save(tmp_path)
    write_report(
        load_sections(tmp_path, ["none", "some"]),
        file=tmp_path / "RESULTS.md",
        pictures=tmp_path / "pictures",
    )

    report = (tmp_path / "RESULTS.md").read_text()
    assert "| **ours** | 3 (2 to 4) | 1.00 |" in report
    assert "| slower | 6 (6 to 6) | 0.50 |" in report
    assert "Not run: gone (it does not install)." in report
    assert (tmp_path / "pictures" / "some.svg").stat().st_size > 500


def test_a_goal_is_met_or_not(tmp_path: Path) -> None:
    met, unmeasured = _SECTION.goals

    assert met.is_met
    assert not unmeasured.is_met
