"""Bar charts of races: one group of bars per race, as multiples of the reference."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from benchmarks.core.results import Race

_WIDTH, _NAMES, _LONGEST = 720, 240, 430  # pixels: picture, column of names, longest bar
_ROW, _BAR, _TITLE = 20, 14, 34
_OURS, _OTHERS = "#2f6f4f", "#b8c4cc"
_STYLE = "text{font:12px sans-serif}.t{font-size:14px;font-weight:bold}.n{text-anchor:end}"


def draw(races: Sequence[Race], file: Path) -> None:
    """Write an SVG. In each race the bar of the reference has length 1; longer is better."""
    lines: list[str] = []
    top = 0
    for race in races:
        lines += _group(race, top)
        top += _TITLE + _ROW * len(race.rounds)
    size = f'width="{_WIDTH}" height="{top}" viewBox="0 0 {_WIDTH} {top}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{_STYLE}</style>'
    background = '<rect width="100%" height="100%" fill="#fff"/>'
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join([head, background, *lines, "</svg>\n"]))


def _group(race: Race, top: int) -> Iterator[str]:
    yield f'<text class="t" x="4" y="{top + 22}">{escape(race.title)}</text>'
    ratios = {name: race.ratio(name, race.reference) for name in race.rounds}
    # A time too short to be measured gets no bar.
    longest = max(filter(math.isfinite, ratios.values()), default=1) or 1
    top += _TITLE
    for name in sorted(ratios, key=lambda name: -ratios[name]):
        ratio = ratios[name]
        length = round(ratio / longest * _LONGEST) if math.isfinite(ratio) else 0
        colour = _OURS if name == race.reference else _OTHERS
        yield f'<text class="n" x="{_NAMES - 6}" y="{top + 12}">{escape(name)}</text>'
        yield f'<rect x="{_NAMES}" y="{top}" width="{length}" height="{_BAR}" fill="{colour}"/>'
        yield f'<text x="{_NAMES + length + 4}" y="{top + 12}">{ratio:.2f}</text>'
        top += _ROW
