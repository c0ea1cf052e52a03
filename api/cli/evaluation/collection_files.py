"""Documents and queries of test collections, in the forms in which they are published.

| form | documents | queries |
|---|---|---|
| SMART (Cranfield, CISI, MED, CACM, ADI) | `.I 1`, then fields `.T`, `.W` … | the same |
| TREC | `<DOC><DOCNO>` … | `<top><num>` … |
| BEIR, JSON lines | `{"_id", "title", "text"}` | `{"_id", "text"}` |
| TIME | `*TEXT` … | `*FIND 1` … |
| LISA | `Document 1` … a line of `*` | a number, the text, `#` |
| NPL | a number, the text, a line `/` | the same |
| TSV | id, tab, text | the same |
"""

import html
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from api.cli.output import CommandError
from ingest.search.evaluation.questions import normal_id


class Record(NamedTuple):
    """A document or a query."""

    id: str
    text: str
    title: str = ""

    @property
    def full_text(self) -> str:
        """Title and text; without the title where the text begins with it, as in Cranfield."""
        title, start = (_letters(part) for part in (self.title, self.text[: 2 * len(self.title)]))
        return self.text if start.startswith(title) else f"{self.title}\n\n{self.text}".strip()


def read_records(file: Path) -> list[Record]:
    """The records of a file that have text. Raises CommandError if its form is unknown."""
    text = read_text(file)
    for is_form, records in _FORMS:
        if is_form.search(text):
            found = [
                Record(normal_id(id), body.strip(), title) for id, body, title in records(text)
            ]
            if kept := [record for record in found if record.text or record.title]:
                return kept
    raise CommandError(f"{file}: neither SMART, TREC, JSON lines, TIME, LISA, NPL nor TSV")


def read_text(file: Path) -> str:
    """Read a file as UTF-8, or else as Latin-1. Raises CommandError."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return text.replace("\r\n", "\n")


_SMART_FIELD: Final = re.compile(r"\.([A-Z])[ \t]*")


def _smart(text: str) -> Iterator[Record]:
    for record in re.split(r"(?m)^\.I[ \t]+", text)[1:]:
        id, _, rest = record.partition("\n")
        fields: dict[str, list[str]] = {}
        lines: list[str] = []
        for line in rest.split("\n"):
            field = _SMART_FIELD.fullmatch(line)
            # A field occurs once: a second marker is a line of the text that looks like one.
            if field and field[1] not in fields:
                lines = fields[field[1]] = []
            else:
                lines.append(line)
        title, body = ("\n".join(fields.get(name, ())).strip() for name in "TW")
        yield Record(id.strip(), body, " ".join(title.split()))


def _trec_documents(text: str) -> Iterator[Record]:
    for document in re.findall(r"(?is)<DOC>(.*?)</DOC>", text):
        id = re.search(r"(?is)<DOCNO>(.*?)</DOCNO>", document)
        title = re.search(r"(?is)<(TITLE|HEADLINE|TTL|HEAD)>(.*?)</\1>", document)
        parts = re.findall(r"(?is)<TEXT>(.*?)</TEXT>", document)
        body = " ".join(parts) or re.sub(r"(?is)<DOCNO>.*?</DOCNO>", "", document)
        if id:
            heading = " ".join(_without_tags(title[2]).split()) if title else ""
            yield Record(id[1].strip(), _without_tags(body), heading)


def _trec_topics(text: str) -> Iterator[Record]:
    """The title of each topic, or else its description."""
    for topic in re.split(r"(?i)<top>", text)[1:]:
        fields = {
            name.lower(): re.sub(r"^\s*(Number|Topic|Description)\s*:", "", _without_tags(body))
            for name, body in re.findall(r"(?is)<(num|title|desc)>(.*?)(?=<[a-z/]|\Z)", topic)
        }
        if number := fields.get("num", "").split():
            query = fields.get("title", "").strip() or fields.get("desc", "")
            yield Record(number[0], " ".join(query.split()))


def _without_tags(text: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", " ", text)).strip()


def _json_lines(text: str) -> Iterator[Record]:
    for line in filter(str.strip, text.split("\n")):
        try:
            value = json.loads(line)
        except ValueError:
            raise CommandError(f"not a JSON line: {line[:60]}") from None
        id = value.get("_id", value.get("id"))
        body = value.get("text", value.get("query"))
        if id is not None and body is not None:
            yield Record(str(id), str(body), str(value.get("title") or ""))


def _time_documents(text: str) -> Iterator[Record]:
    """Judgements name a document by its place, not by the number in its heading."""
    parts = re.split(r"(?m)^\*TEXT .*$", _until_stop(text))[1:]
    for place, body in enumerate(parts, start=1):
        yield Record(str(place), body)


def _time_queries(text: str) -> Iterator[Record]:
    parts = re.split(r"(?m)^\*FIND[ \t]+(\d+).*$", _until_stop(text))[1:]
    for id, body in zip(parts[::2], parts[1::2], strict=True):
        yield Record(id, " ".join(body.split()))


def _until_stop(text: str) -> str:
    return re.split(r"(?m)^\*STOP", text, maxsplit=1)[0]


def _lisa_documents(text: str) -> Iterator[Record]:
    for record in re.split(r"(?m)^\*{10,}.*$", text):
        if found := re.match(
            r"\s*Document\s+(\d+)[ \t]*\n(.*?)(?:\n[ \t]*\n(.*))?\Z", record, re.S
        ):
            yield Record(found[1], (found[3] or "").strip(), " ".join(found[2].split()))


def _numbered(end: str) -> Callable[[str], Iterator[Record]]:
    def records(text: str) -> Iterator[Record]:
        for part in re.split(end, text):
            if found := re.match(r"\s*(\d+)[ \t]*\n(.*)", part, re.S):
                yield Record(found[1], " ".join(found[2].split()))

    return records


def _tsv(text: str) -> Iterator[Record]:
    for line in text.split("\n"):
        id, tab, body = line.partition("\t")
        if tab and id.strip():
            yield Record(id.strip(), body.replace("\t", " "))


def _letters(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()


_FORMS: Final[tuple[tuple[re.Pattern[str], Callable[[str], Iterator[Record]]], ...]] = (
    (re.compile(r"\A\s*\.I[ \t]"), _smart),
    (re.compile(r"(?i)<DOCNO>"), _trec_documents),
    (re.compile(r"(?i)<top>"), _trec_topics),
    (re.compile(r"\A\s*\{"), _json_lines),
    (re.compile(r"(?m)\A\s*\*TEXT "), _time_documents),
    (re.compile(r"(?m)\A\s*\*FIND "), _time_queries),
    (re.compile(r"\A\s*Document\s+\d+\s"), _lisa_documents),
    (re.compile(r"(?m)\A\s*\d+[ \t]*$[\s\S]*^\s*/\s*$"), _numbered(r"(?m)^[ \t]*/[ \t]*$")),
    (re.compile(r"(?m)\A\s*\d+[ \t]*$[\s\S]*#\s*$"), _numbered(r"#[ \t]*(?:\n|\Z)")),
    (re.compile(r"(?m)^\S+\t\S"), _tsv),
)
