"""Subtitles (SubRip, WebVTT): the spoken text, without cue numbers and times."""

import re
from html import unescape

from ingest.formats.common.markdown import plain
from ingest.formats.text.reading import Reading, lines_of

_TIME = r"(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
_TIMING = re.compile(rf"^\s*{_TIME}\s+-->\s+{_TIME}")
_START = re.compile(
    r"\A\ufeff?\s*(?:WEBVTT\b|\d+\s*\r?\n\s*(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}\s+-->)"
)
_SPEAKER = re.compile(r"<v(?:\.[^ >]*)?\s+([^>]+)>")
_STYLING = re.compile(r"</?[a-z][^<>]{0,200}>|<\d[\d:.]*>|\{\\[^{}]{0,200}\}", re.IGNORECASE)
_NO_CUE = re.compile(r"(?:NOTE|STYLE|REGION)\b|WEBVTT")
_PAUSE = 3.0  # seconds; longer silence starts a new paragraph


def is_subtitles(text: str, suffix: str) -> bool:
    """Whether the file name suffix, or a start that only subtitles have, shows subtitles."""
    return suffix in (".srt", ".vtt") or _START.match(text[:1000]) is not None


def read_subtitles(text: str) -> Reading:
    """Lines in order; one that is repeated, as in rolling captions, appears once."""
    paragraphs: list[list[str]] = [[]]
    ends = 0.0
    for cue in _cues(text):
        timing = _TIMING.match(cue[0])
        if timing is None:
            continue
        starts = _seconds(timing.groups()[:4])
        if starts - ends > _PAUSE and paragraphs[-1]:
            paragraphs.append([])
        ends = _seconds(timing.groups()[4:])
        paragraphs[-1] += _fresh(cue[1:], before=paragraphs[-1][-2:])
    said = "\n\n".join("\n".join(lines) for lines in paragraphs if lines)
    if not said:
        return Reading(text=text)
    return Reading(text=plain(said), metadata={"durationSeconds": round(ends)})


def _cues(text: str) -> list[list[str]]:
    """Blocks between blank lines, each starting at its timing line."""
    cues: list[list[str]] = [[]]
    for line in lines_of(text):
        if not line.strip():
            cues.append([])
        elif _TIMING.match(line):
            cues.append([line])
        elif cues[-1] or not _NO_CUE.match(line):
            cues[-1].append(line)
    return [cue for cue in cues if cue]


def _fresh(lines: list[str], *, before: list[str]) -> list[str]:
    found: list[str] = []
    for line in lines:
        said = unescape(_STYLING.sub("", _SPEAKER.sub(r"\1: ", line))).replace("\xa0", " ").strip()
        if said and said not in before and said not in found:
            found.append(said)
    return found


def _seconds(groups: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = groups
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return whole + float(f"0.{fraction}")
