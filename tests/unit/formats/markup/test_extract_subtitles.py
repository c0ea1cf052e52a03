"""Subtitles: what is said, without numbers and times."""

import io

import pytest

from ingest.formats import registry
from ingest.model import Document


def extract(text: str, name: str) -> Document:
    return registry.extract(io.BytesIO(text.encode()), name=name)


SRT = """1
00:00:01,000 --> 00:00:02,500
<i>Hello</i> there.

2
00:00:02,600 --> 00:00:04,000
{\\an8}How are you?

3
00:01:00,000 --> 00:01:01,000
42
"""
VTT = """WEBVTT - A talk

STYLE
::cue { color: red }

NOTE not said

intro
00:01.000 --> 00:02.000 align:start
<v Ann>We <00:01.500><c>begin</c>

00:02.000 --> 00:03.000
<v Ann>We begin
and go on &amp; end
"""


def test_subtitles_are_what_is_said_without_numbers_and_times() -> None:
    document = extract(SRT, "talk.srt")

    assert document.text == "Hello there.\nHow are you?\n\n42"
    assert document.metadata == {"durationSeconds": 61}


def test_rolling_captions_say_each_line_once() -> None:
    assert extract(VTT, "talk.txt").text == "Ann: We begin\nand go on & end"


_EVENTS = (
    "[Script Info]\nTitle: Film\n\n[V4+ Styles]\nFormat: Name, Fontname\nStyle: Default,Arial\n\n"
    "[Events]\nFormat: Layer, Start, End, Style, Name, Effect, Text\n"
    "Comment: 0,0:00:00.00,0:00:01.00,Default,,,for the translator\n"
    "Dialogue: 0,0:00:04.50,0:00:05.00,Default,,,Second, with a comma\n"
    "Dialogue: 0,0:00:01.00,0:00:03.00,Default,Ada,,{\\i1}Hello{\\i0} {all}.\\NHow are you?\n"
    "Dialogue: 0,0:01:00.00,0:01:02.00,Default,,,{\\p1}m 0 0 l 100 0{\\p0}\n"
)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.ass", _EVENTS, "Ada: Hello {all}.\nHow are you?\nSecond, with a comma"),
        ("a.txt", _EVENTS, "Ada: Hello {all}.\nHow are you?\nSecond, with a comma"),
        ("a.ssa", "[Script Info]\n[Events]\nFormat: Marked, Start, End, Text\n"
         "Dialogue: Marked=0,0:00:01.00,0:00:03.00,Old\n", "Old"),
        ("a.sbv", "0:00:01.000,0:00:02.000\nHello\n\n0:00:09.000,0:00:10.000\nLater\n",
         "Hello\n\nLater"),
        ("a.sub", "{0}{25}Hello|there\n{30}{60}{y:i}More\n{900}{950}The end\n",
         "Hello\nthere\nMore\n\nThe end"),
        ("a.sub", "{0}{1} are places for values.\nThis is prose.\n",
         "{0}{1} are places for values.\nThis is prose.\n"),
        ("a.ttml", "<tt xmlns='http://www.w3.org/ns/ttml'><head><styling/></head><body><div>"
         "<p begin='1s'>Hello<br/>there</p><p>Hello there</p><p><span>Gen</span>eral</p></div>"
         "</body></tt>", "Hello there\nGeneral"),
    ],
)  # fmt: skip
def test_other_subtitles_are_what_is_said_too(name: str, text: str, said: str) -> None:
    assert extract(text, name).text == said


@pytest.mark.parametrize("text", ["WEBVTT\n\nNOTE nothing", "no subtitles at all"])
def test_subtitles_without_any_cue_are_text(text: str) -> None:
    assert extract(text, "a.vtt").text == text
