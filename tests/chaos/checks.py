"""The end state: what is there compared with the model. Each check returns (kind, what) pairs.

Kinds: `lost`, `doubled`, `leaked` (what should be gone, or was never ours to see), `hung`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.chaos import firecrawl
from tests.chaos.contents import Mark, make_file, marks
from tests.chaos.installation import Installation
from tests.chaos.model import ApplicationModel, FileModel
from tests.chaos.sums import ADDS_UP

Problem = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A source, and the paragraphs that are searchable of it."""

    id: str
    application: str
    uri: str
    status: str
    error_code: str | None
    marks: Counter[Mark]


def check_rows(on: Installation) -> list[Problem]:
    """Whatever must hold for any content."""
    problems = []
    for kind, what, query in ADDS_UP:
        rows = on.postgres.rows(query)
        if rows:
            problems.append((kind, f"{len(rows)} times {what}: {_some(rows)}"))
    return problems


def check_contents(on: Installation, models: Sequence[ApplicationModel]) -> list[Problem]:
    """Sources and paragraphs against the models."""
    problems: list[Problem] = []
    stored = _stored(on)
    for model in models:
        own = [source for source in stored if source.application == model.id]
        by_uri = {source.uri: source for source in own}
        if len(by_uri) < len(own):
            problems.append(("doubled", f"two sources with one path: {sorted(by_uri)}"))
        for file in model.files.values():
            problems += _check_file(file, by_uri.pop(file.path, None))
        problems += _check_sites(on, model, own)
        for left in by_uri.values():
            if left.id not in (model.site, model.firecrawl_site):
                problems.append(("leaked", f"nobody added {left.uri} ({left.status})"))
        for source in own:
            problems += _check_marks(model, source)
    return problems


def check_search(on: Installation, models: Sequence[ApplicationModel]) -> list[Problem]:
    """Through the API: each file is found by its words, and only by its own application."""
    problems: list[Problem] = []
    stored = {source.id: source for source in _stored(on)}
    for model in models:
        for file in model.living():
            expected = stored.get(str(file.source))
            made = make_file(model.number, file.number, file.version)
            if expected is None or expected.status != "completed" or not made.marks:
                continue
            for asker in models:
                found = _search(on, asker, made.marks[-1].word)
                has_it = any(made.marks[-1] in marks(hit["content"]) for hit in found)
                if has_it != (asker is model):
                    kind = "lost" if asker is model else "leaked"
                    what = f"{made.marks[-1].word} of {file.path}"
                    problems.append((kind, f"{what}, asked for by {asker.number}: {has_it}"))
    return problems


def check_notifications(on: Installation, models: Sequence[ApplicationModel]) -> list[Problem]:
    """Each message at least once, the same bytes each time, and one for each completed source."""
    problems: list[Problem] = []
    if on.receiver.forged:
        problems.append(("failed", f"{on.receiver.forged} messages with a wrong signature"))
    for (number, id), bodies in on.receiver.bodies.items():
        if len(bodies) > 1:
            problems.append(("doubled", f"message {id} to {number} has several bodies"))
    for model in models:
        rows = on.postgres.rows(
            "select id::text from rag.webhook_deliveries where application_id = %s", model.id
        )
        missing = [id for (id,) in rows if not on.receiver.taken[model.number, id]]
        if missing:
            problems.append(("lost", f"{len(missing)} deliveries never came: {missing[:3]}"))
        told = {
            event["data"].get("knowledgeSourceId")
            for event in on.receiver.events(model.number)
            if event["type"] == "source.completed"
        }
        rows = on.postgres.rows(
            "select id::text from rag.knowledge_sources "
            "where application_id = %s and status = 'completed'",
            model.id,
        )
        untold = {id for (id,) in rows} - told
        if untold:
            problems.append(("lost", f"nobody was told of {len(untold)} sources: {untold}"))
    return problems


def check_followers(on: Installation, seen: Iterable[tuple[str, str]]) -> list[Problem]:
    """(application, source) pairs of events that its followers got."""
    owners = dict(
        on.postgres.rows("select id::text, application_id::text from rag.knowledge_sources")
    )
    return [
        ("leaked", f"{application} got events of {source}")
        for application, source in seen
        if owners.get(source, application) != application
    ]


def _search(on: Installation, asker: ApplicationModel, query: str) -> list[Any]:
    answer = on.api.http.post(
        "/api/search",
        json={"query": query, "mode": "keyword"},
        headers={"Authorization": f"Bearer {asker.key}"},
    )
    answer.raise_for_status()
    hits: list[Any] = answer.json()["hits"]
    return hits


def _stored(on: Installation) -> list[Stored]:
    found: defaultdict[str, Counter[Mark]] = defaultdict(Counter)
    for source, content in on.postgres.rows(
        "select chunk.source_id::text, chunk.content from rag.chunks as chunk "
        "join rag.documents as document on document.id = chunk.document_id "
        "where document.deleted_at is null"
    ):
        found[source].update(marks(content))
    return [
        Stored(
            id=id, application=application, uri=uri, status=status, error_code=code,
            marks=found[id],
        )
        for id, application, uri, status, code in on.postgres.rows(
            "select id::text, application_id::text, uri, status, error_code "
            "from rag.knowledge_sources where deleted_at is null"
        )
    ]  # fmt: skip


def _check_file(file: FileModel, found: Stored | None) -> list[Problem]:
    if file.source is None:
        return [] if found is None else [("leaked", f"{file.path} was deleted, and is there")]
    if found is None or found.id != file.source:
        return [("lost", f"{file.path} is not there: {found}")]
    if file.is_broken:
        expected = {"failed", "cancelled"} if file.cancelled != "no" else {"failed"}
        return [] if found.status in expected else [("failed", f"broken {file.path} is {found}")]
    if found.status == "cancelled" and file.cancelled != "no":
        return _check_cancelled(file, found)
    if found.status != "completed" or file.cancelled == "yes":
        return [("lost", f"{file.path} is {found.status} ({found.error_code}), {file}")]
    return _difference(found, set(make_file(file.application, file.number, file.version).marks))


def _check_cancelled(file: FileModel, found: Stored) -> list[Problem]:
    """It has one whole older version or nothing; in an archive, that holds for each member."""
    if file.path.endswith(".zip"):
        allowed = file.older | {file.version}
        parts = Counter(mark.part for mark in found.marks)
        if max(parts.values(), default=1) > 1 or {m.version for m in found.marks} - allowed:
            return [("leaked", f"cancelled {file.path} has {found.marks.keys()} of {allowed}")]
        return []
    versions = {mark.version for mark in found.marks}
    if len(versions) > 1 or not versions <= file.older:
        return [("leaked", f"cancelled {file.path} has {versions} of {file.older}")]
    whole = [make_file(file.application, file.number, version).marks for version in versions]
    return _difference(found, {mark for marks in whole for mark in marks}) if whole else []


def _check_sites(on: Installation, model: ApplicationModel, own: Sequence[Stored]) -> list[Problem]:
    by_id = {source.id: source for source in own}
    expected = {
        model.site: on.site.marks(model.number),
        model.firecrawl_site: firecrawl.marks(on.plan.seed, model.number),
    }
    problems = []
    for id, wanted in expected.items():
        found = by_id.get(str(id))
        if found is None or found.status != "completed":
            problems.append(("lost", f"site {id} of {model.number} is {found}"))
        else:
            problems += _difference(found, wanted)
    return problems


def _difference(found: Stored, expected: set[Mark]) -> list[Problem]:
    problems = []
    if missing := expected - found.marks.keys():
        problems.append(("lost", f"{found.uri} lacks {sorted(missing)}"))
    if surplus := found.marks.keys() - expected:
        problems.append(("leaked", f"{found.uri} still has {sorted(surplus)}"))
    return problems


def _check_marks(model: ApplicationModel, source: Stored) -> list[Problem]:
    problems = []
    if doubled := [mark.word for mark, times in source.marks.items() if times > 1]:
        problems.append(("doubled", f"{source.uri} has {doubled} several times"))
    if foreign := [mark.word for mark in source.marks if mark.application != model.number]:
        problems.append(("leaked", f"{source.uri} has {foreign} of others"))
    return problems


def _some(rows: Sequence[Any]) -> str:
    return "; ".join(str(tuple(map(str, row))) for row in rows[:3])
