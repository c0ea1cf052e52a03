"""Questions with their right answers: from a test collection, or as people judged hits.

The second form is JSON lines, which a dashboard can append to, one line per thumb:

    {"query": "When is the oil changed?", "target": {"document": "pump.pdf", "page": 3}, "gain": 1}
    {"query": "When is the oil changed?", "target": {"quote": "every 400 hours"}, "gain": 2}

Lines with the same `query` and `filter` are one question. A `target` is a document (its uri, name
or id), a page of it, a quoted passage, or a passage of a document; `targets` lists several. `gain`
is 1 unless given; 0 says that it is no answer. `id` names the question; `filter` is that of the
search.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from api.cli.evaluation.collection_files import read_records, read_text
from api.cli.evaluation.qrels import Grades, read_qrels
from api.cli.output import CommandError
from ingest.search.evaluation.questions import Question, Target


@dataclass(slots=True, kw_only=True)
class QuestionSet:
    questions: list[Question] = field(default_factory=list)
    """With at least one answer."""
    notes: list[str] = field(default_factory=list)
    """What was left out, in words."""


def load_questions(file: Path, queries: Path | None, grades: Grades = "auto") -> QuestionSet:
    """Read judged questions: `file` has JSON lines, or qrels of the `queries`.

    Raises CommandError.
    """
    is_json = read_text(file).lstrip().startswith("{")
    if is_json:
        found = QuestionSet(questions=list(_from_json(file)))
    elif queries is None:
        raise CommandError(f"{file} has no texts of queries: add --queries FILE")
    else:
        found = _from_qrels(file, queries, grades)
    answerable = [one for one in found.questions if any(t.gain > 0 for t in one.targets)]
    if len(answerable) < len(found.questions):
        found.notes.append(f"{len(found.questions) - len(answerable)} questions have no answer")
    if not answerable:
        raise CommandError(f"{file}: no question has an answer")
    found.questions = answerable
    return found


def _from_qrels(file: Path, queries: Path, grades: Grades) -> QuestionSet:
    judgements = read_qrels(file, grades)
    texts = {record.id: record.full_text for record in read_records(queries)}
    found = QuestionSet()
    if missing := judgements.keys() - texts.keys():
        if len(texts) >= len(judgements) and all(id.isdecimal() for id in judgements):
            # Cranfield's judgements name a query by its place.
            found.notes.append("judgements name queries by their place in the file")
            texts = {str(place): text for place, text in enumerate(texts.values(), start=1)}
        missing = judgements.keys() - texts.keys()
    if missing:
        found.notes.append(f"{len(missing)} judged queries have no text")
    if unjudged := len(texts.keys() - judgements.keys()):
        found.notes.append(f"{unjudged} queries have no judgement")
    for id, text in texts.items():
        if id in judgements:
            targets = [Target(document=name, gain=gain) for name, gain in judgements[id].items()]
            found.questions.append(Question(id=id, text=text, targets=targets))
    return found


def _from_json(file: Path) -> Iterator[Question]:
    known: dict[str, Question] = {}
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            one = _question(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            reason = str(error) if isinstance(error, ValueError) else "a field is missing or wrong"
            raise CommandError(f"{file}, line {number}: {reason}") from None
        key = json.dumps([one.text, one.filter], sort_keys=True)
        before = known.get(key)
        # A later thumb on the same target replaces the earlier one.
        targets = {
            target[:3]: target for target in [*(before.targets if before else ()), *one.targets]
        }
        known[key] = replace(before or one, targets=tuple(targets.values()))
    if twice := [id for id, n in Counter(one.id for one in known.values()).items() if n > 1]:
        raise CommandError(f"{file}: the id {twice[0]} names two questions")
    yield from known.values()


def _question(value: Mapping[str, Any]) -> Question:
    """Raises ValueError, TypeError or KeyError if the value is not a question."""
    text = value["query"]
    if not isinstance(text, str) or not text.strip():
        raise ValueError("the query is empty")
    targets = value["targets"] if "targets" in value else [value["target"]]
    gain, filter = value.get("gain", 1), value.get("filter")
    return Question(
        id=str(value.get("id") or text + (f" {json.dumps(filter)}" if filter else "")),
        text=text,
        targets=tuple(_target(target, gain) for target in targets),
        filter=filter,
    )


def _target(value: Mapping[str, Any] | str, gain: float) -> Target:
    if isinstance(value, str):
        return Target(document=value, gain=float(gain))
    if unknown := value.keys() - {"document", "page", "quote", "gain"}:
        raise ValueError(f"a target has no field {min(unknown)}")
    target = Target(**{**value, "gain": float(value.get("gain", gain))})
    if target.document is None and target.quote is None:
        raise ValueError("a target is a document, a page of a document, or a quote")
    return target
