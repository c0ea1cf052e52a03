"""Text of a page that only its scripts hold: structured data, the state of a framework, Markdown.

It is read where the page does not show it: an article in JSON-LD whose beginning the page shows, an
answer whose question is on the page; the rest if the page shows next to nothing without scripts.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import unescape
from itertools import chain, islice
from typing import Any

from lxml import etree, html

_LD = "application/ld+json"
_MARKDOWN = frozenset({"text/markdown", "text/x-markdown"})
_STATED = re.compile(
    r'"(?:articleBody|acceptedAnswer|recipeInstructions|recipeIngredient|transcript|JobPosting)"'
)
_KEYS = {
    "articleBody", "acceptedAnswer", "recipeInstructions", "recipeIngredient", "transcript",
    "description",
}  # fmt: skip
_MOST_THINGS = 500  # that are looked for in the page
_STATE = re.compile(
    r"""(?:window|self|globalThis)(?:\.|\[["'])__?[A-Za-z_]{3,40}(?:["']\])?\s{0,9}=\s{0,9}(?=[{\[])"""
)
_PAGES = etree.XPath("//div/@data-page", smart_strings=False)  # Inertia
_LONGEST = 4_000_000  # characters of a script
_MOST_VALUES = 200_000
_LITTLE = 200  # letters; a page with less is a shell for its scripts
_BEGINNING = 4000  # characters, with at least that many letters in running text
_WINDOW, _MOST_WINDOWS = 40, 12  # letters that are looked for; how often
_PROSE = 80  # characters
_NAME = 8  # letters
_SENTENCE = re.compile(r"[.!?…](?:\s|$|<)|[。\uff01\uff1f؟।]")
_CODE = re.compile(r"""[{}]\s*["'.#@\w-]|;\s*[\w-]+\s*:|function\s*\(|=>|\A\s*[<{\[]\?""")
_TAG = re.compile(r"</?[a-z][^<>]{0,2000}>", re.IGNORECASE)
HAS_TAGS = re.compile(
    r"</?(?:p|div|h[1-6]|ul|ol|li|br|table|strong|em|a|span|section)\b[^<>]{0,2000}>", re.IGNORECASE
)


@dataclass(slots=True)
class ScriptData:
    """The sources of scripts, unparsed."""

    structured: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    """Some assign a state to a variable."""
    markdown: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Part:
    """A text that the page does not show: plain, Markdown or HTML."""

    text: str
    heading: str = ""


def collect(tree: html.HtmlElement) -> ScriptData:
    """Call it before scripts are removed."""
    found = ScriptData()
    for script in tree.iter("script"):
        text = script.text
        if not text or len(text) > _LONGEST:
            continue
        kind = (script.get("type") or "").partition(";")[0].strip().lower()
        if kind == _LD:
            if _STATED.search(text):
                found.structured.append(text)
        elif kind in _MARKDOWN or _is_slide(script, kind):
            found.markdown.append(text)
        elif kind == "application/json":
            found.states.append(text)
        elif "_" in text:
            found.scripts.append(text)
    found.states += [state for state in _PAGES(tree) if state.startswith("{")]
    return found


def _is_slide(script: html.HtmlElement, kind: str) -> bool:
    """Whether it is a slide of reveal.js."""
    parent = script.getparent()
    return kind == "text/template" and parent is not None and "data-markdown" in parent.attrib


def missing_parts(data: ScriptData, body: str, title: str | None) -> list[Part]:
    """The texts that the page does not show. `body`: what it shows."""
    is_shell = len(_letters(body[:_BEGINNING])) < _LITTLE
    if not (data.structured or is_shell):
        return []
    shown = _letters(body)
    named = shown + _letters(title or "")
    found: dict[Part, None] = {}
    values = (value for source in data.structured for value in _values(_parsed(source)))
    things = (value for value in values if isinstance(value, dict) and _KEYS & value.keys())
    for thing in islice(things, _MOST_THINGS):
        found.update(dict.fromkeys(_stated(thing, shown, named)))
    if not found and len(shown) < _LITTLE:
        assigned = ((text, _STATE.search(text)) for text in data.scripts)
        sources = chain(
            data.states, (text[state.end() :] for text, state in assigned if state is not None)
        )
        states = (value for source in sources for value in _values(_parsed(source)))
        texts = map(str.strip, data.markdown) if data.markdown else _prose(states)
        return [Part(text) for text in texts]
    return list(found)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _parsed(source: str) -> Any:
    try:
        return json.JSONDecoder(strict=False).raw_decode(source.lstrip())[0]
    except (ValueError, RecursionError):
        return None


def _values(data: Any) -> Iterator[Any]:
    """All values in it, in order."""
    stack, count = [data], 0
    while stack and count < _MOST_VALUES:
        value = stack.pop()
        count += 1
        yield value
        if isinstance(value, dict):
            stack += reversed(list(value.values()))
        elif isinstance(value, list):
            stack += reversed(value)


def _stated(thing: dict[str, Any], shown: str, named: str) -> Iterator[Part]:
    has_little = len(shown) < _LITTLE
    answer = thing.get("acceptedAnswer")
    answer = answer[0] if isinstance(answer, list) and answer else answer
    name = _plain(thing.get("name"))
    if isinstance(answer, dict):
        said = _plain(answer.get("text"))
        if said and _is_named(name, shown) and not _is_shown(said, shown):
            yield Part(said, name)
        return
    longer = [_plain(thing.get(key)) for key in ("articleBody", "transcript")]
    if thing.get("@type") == "JobPosting":
        longer.append(_plain(thing.get("description")))
    for text in longer:
        if len(text) < _PROSE or not (has_little or _is_begun(text, shown)):
            continue
        if len(_letters(text)) > len(shown) and not _is_shown(text, shown):
            yield Part(text)
    if _is_named(name, named):
        for key in ("recipeIngredient", "recipeInstructions"):
            steps = _steps(thing.get(key))
            if steps and not any(_is_shown(step, shown) for step in steps):
                yield Part("\n".join(f"- {step}" for step in steps))


def _plain(value: Any) -> str:
    return unescape(value).strip() if isinstance(value, str) else ""


def _steps(value: Any) -> list[str]:
    if isinstance(value, dict):
        return _steps(value.get("itemListElement") or value.get("text"))
    if isinstance(value, list):
        return [step for item in value for step in _steps(item)]
    text = " ".join(_TAG.sub("", _plain(value)).split())
    return [text] if text else []


def _is_named(name: str, shown: str) -> bool:
    """Whether the page has the name; a short one may be part of any word."""
    letters = _letters(name)
    return len(letters) >= (_NAME if letters.isascii() else _NAME // 2) and letters in shown


def _is_begun(text: str, shown: str) -> bool:
    """Whether the page shows the beginning, as in front of a paywall."""
    begin = _letters(_TAG.sub("", text[: 2 * _LITTLE]))
    return any(begin[at : at + _WINDOW] in shown for at in range(0, _LITTLE, _WINDOW))


def _is_shown(text: str, shown: str) -> bool:
    """Whether the page has about half of it."""
    letters = _letters(_TAG.sub("", text))
    step = max(_WINDOW, len(letters) // _MOST_WINDOWS)
    windows = [letters[at : at + _WINDOW] for at in range(0, len(letters), step)]
    return 2 * sum(window in shown for window in windows) >= len(windows)


def _prose(values: Iterable[Any]) -> list[str]:
    """The running text among the values, each once."""
    found: dict[str, None] = {}
    for value in values:
        text = _plain(value)
        is_long = len(text) >= _PROSE or (len(text) >= _PROSE // 2 and not text.isascii())
        if is_long and _SENTENCE.search(text) and not _CODE.search(HAS_TAGS.sub("", text)):
            found[text] = None
    longest = max(found, key=len, default="")  # summaries quote it
    return [text for text in found if text is longest or text not in longest]
