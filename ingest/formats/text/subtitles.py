"""Subtitles (SubRip, WebVTT, SubViewer, MicroDVD, SubStation Alpha): what is said, without times
and styles."""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

from ingest.formats.common.markdown import plain
from ingest.formats.text.reading import Reading, lines_of

_TIME = r"(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
_TIMING = re.compile(rf"^\s*{_TIME}(?:\s+-->\s+|,){_TIME}")
_START = re.compile(
    r"\A\ufeff?\s*(?:WEBVTT\b|\d+\s*\r?\n\s*(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}\s+-->"
    r"|\d+:\d\d:\d\d\.\d{3},\d+:\d\d:\d\d\.\d{3}\s*\n|\{\d+\}\{\d*\}[^\n]*\n\s*\{\d+\}\{\d*\}"
    r"|\[Script Info\])"
)
_SPEAKER = re.compile(r"<v(?:\.[^ >]*)?\s+([^>]+)>")
_STYLING = re.compile(
    r"</?[a-z][^<>]{0,200}>|<\d[\d:.]*>|\{(?:\\|[a-z]:)[^{}]{0,200}\}", re.IGNORECASE
)
_NO_CUE = re.compile(r"(?:NOTE|STYLE|REGION)\b|WEBVTT")
_PAUSE = 3.0  # seconds; longer silence starts a new paragraph
_FRAMES = re.compile(r"\s*\{(\d{1,9})\}\{(\d{0,9})\}(.*)")
_PER_SECOND = 25  # frames, if the file does not say
_EVENT = re.compile(r"\s*(Format|Dialogue)\s*:\s*(.*)", re.IGNORECASE)
_COLUMNS = "layer start end style name marginl marginr marginv effect text"  # if it does not say
_BREAK = re.compile(r"\\[Nn]")
_DRAWING = re.compile(r"\{[^{}]*\\p[1-9]")
_CLOCK = re.compile(rf"\s*{_TIME}\s*")


class _Cue(NamedTuple):
    starts: float
    """Seconds."""
    ends: float
    lines: list[str]


def is_subtitles(text: str, suffix: str) -> bool:
    """Whether the file name suffix, or a start that only subtitles have, shows subtitles."""
    return suffix in (".srt", ".vtt", ".ass", ".ssa", ".sbv") or bool(_START.match(text[:1000]))


def read_subtitles(text: str) -> Reading:
    """Lines in order; one that is repeated, as in rolling captions, appears once."""
    paragraphs: list[list[str]] = [[]]
    ends = 0.0
    for cue in _cues(lines_of(text)):
        if cue.starts - ends > _PAUSE and paragraphs[-1]:
            paragraphs.append([])
        ends = cue.ends
        paragraphs[-1] += _fresh(cue.lines, before=paragraphs[-1][-2:])
    said = "\n\n".join("\n".join(lines) for lines in paragraphs if lines)
    if not said:
        return Reading(text=text)
    return Reading(text=plain(said), metadata={"durationSeconds": round(ends)})


def _cues(lines: list[str]) -> Iterator[_Cue]:
    first = next((line.strip("\ufeff \t") for line in lines if line.strip("\ufeff \t")), "")
    if first.lower() == "[script info]":
        return _of_events(lines)
    return _of_frames(lines) if _FRAMES.match(first) else _of_blocks(lines)


def _of_blocks(lines: list[str]) -> Iterator[_Cue]:
    """Blocks between blank lines, each starting at its timing line."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if not line.strip():
            blocks.append([])
        elif _TIMING.match(line):
            blocks.append([line])
        elif blocks[-1] or not _NO_CUE.match(line):
            blocks[-1].append(line)
    for block in filter(None, blocks):
        timing = _TIMING.match(block[0])
        if timing is not None:
            groups = timing.groups()
            yield _Cue(_seconds(groups[:4]), _seconds(groups[4:]), block[1:])


def _of_frames(lines: list[str]) -> Iterator[_Cue]:
    """MicroDVD: `{25}{50}one line|another`."""
    for line in lines:
        found = _FRAMES.match(line)
        if found is not None:
            starts = int(found[1]) / _PER_SECOND
            ends = int(found[2]) / _PER_SECOND if found[2] else starts
            yield _Cue(starts, ends, found[3].split("|"))


def _of_events(lines: list[str]) -> Iterator[_Cue]:
    """SubStation Alpha: `Dialogue:` with the columns that `Format:` names; the last is the text."""
    columns = _COLUMNS.split()
    found: list[_Cue] = []
    for line in lines:
        event = _EVENT.match(line)
        if event is None:
            continue
        if event[1].lower() == "format":  # the last is that of the events
            columns = [name.strip().lower() for name in event[2].split(",")]
            continue
        stated = dict(zip(columns, event[2].split(",", len(columns) - 1), strict=False))
        text = stated.get("text", "")
        times = [_CLOCK.fullmatch(stated.get(name, "")) for name in ("start", "end")]
        if times[0] is None or times[1] is None or _DRAWING.search(text):
            continue
        who = stated.get("name", stated.get("actor", "")).strip()
        said = _BREAK.sub("\n", text.replace("\\h", " ")).split("\n")
        said[0] = f"{who}: {said[0]}" if who else said[0]
        found.append(_Cue(_seconds(times[0].groups()), _seconds(times[1].groups()), said))
    return iter(sorted(found, key=lambda cue: cue.starts))


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
