"""A picture of races: one group of bars each, as times of the reference."""

import math
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.core.results import Race

_BAR_INCHES = 0.28
_OURS, _OTHERS = "#2f6f4f", "#b8c4cc"


def draw(races: Sequence[Race], file: Path) -> None:
    """Write an SVG. The reference has the length 1 in each race; longer is better."""
    mpl.rcParams["svg.hashsalt"] = "rag-ingest"  # the same races make the same file
    mpl.rcParams["svg.fonttype"] = "none"
    heights = [len(race.rounds) * _BAR_INCHES + 0.75 for race in races]
    figure = Figure(figsize=(8, sum(heights)), layout="constrained")
    axes = figure.subplots(len(races), 1, squeeze=False, height_ratios=heights)[:, 0]
    for race, axis in zip(races, axes, strict=True):
        names = sorted(race.rounds, key=lambda name: race.ratio(name, race.reference))
        ratios = [race.ratio(name, race.reference) for name in names]
        # What was too little to be measured has no length.
        lengths = [ratio if math.isfinite(ratio) else 0 for ratio in ratios]
        colours = [_OURS if name == race.reference else _OTHERS for name in names]
        bars = axis.barh(names, lengths, color=colours)
        axis.bar_label(bars, [f"{ratio:.2f}" for ratio in ratios], padding=3, fontsize=8)
        axis.set_title(race.title, loc="left", fontsize=10)
        axis.tick_params(labelsize=8)
        axis.margins(x=0.1)
        axis.spines[["top", "right"]].set_visible(False)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, metadata={"Date": None})
