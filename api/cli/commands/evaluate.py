"""`ingest eval QRELS`: how well the service finds what people judged to be the answer."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Any, Final, Literal

import typer
from rich.progress import MofNCompleteColumn, TimeRemainingColumn

from api.cli import exits
from api.cli.arguments import JsonDocument
from api.cli.client.http_client import Client, ServiceError, Unreachable, open_client
from api.cli.client.uploader import UploadOptions
from api.cli.commands.upload import upload_files
from api.cli.commands.upload_report import print_result
from api.cli.evaluation.corpus import corpus_files
from api.cli.evaluation.questions import QuestionSet, load_questions
from api.cli.evaluation.report import print_comparison, print_runs
from api.cli.evaluation.runs import Comparison, Run, Variant, as_json, compare, read_runs, run
from api.cli.output import CommandError, count, notes, out, plain, print_json
from api.cli.progress import progress_bar
from ingest.search.evaluation.questions import Question

_ATTEMPTS: Final = 10
_PAUSE_SECONDS: Final = 2.0
_DEFAULT: Final = Variant(name="", fields={})


class Mode(StrEnum):
    VECTOR = "vector"
    KEYWORD = "keyword"
    HYBRID = "hybrid"


def evaluate(
    qrels: Annotated[
        Path | None,
        typer.Argument(help="Judgements: TREC or SMART qrels, or JSON lines", show_default=False),
    ] = None,
    *,
    judgements: Annotated[
        str | None,
        typer.Option(metavar="SET", help="Instead of a file: judgements that the service stores"),
    ] = None,
    queries: Annotated[
        Path | None,
        typer.Option(help="Texts of the queries: TREC topics, TSV, JSON lines or SMART"),
    ] = None,
    corpus: Annotated[
        list[Path] | None,
        typer.Option(
            help="Upload the documents of this TREC, SMART or JSON lines file first, and search "
            "only them (repeatable)"
        ),
    ] = None,
    chunk_size: Annotated[
        int | None, typer.Option(min=1, help="Tokens per chunk of the corpus")
    ] = None,
    mode: Annotated[
        list[Mode] | None,
        typer.Option(help="Only this mode (repeatable)"),
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=JSON",
            help="Ask once more with these fields of the search request (repeatable), as in "
            """--variant 'reranked={"rerank": true}'""",
        ),
    ] = None,
    depth: Annotated[int, typer.Option(min=10, max=100, help="Hits asked for")] = 20,
    grades: Annotated[
        Literal["auto", "gain", "cranfield"],
        typer.Option(help="gain: a higher grade is better; cranfield: 1 is the best of 4"),
    ] = "auto",
    save: Annotated[Path | None, typer.Option(help="Write the results to this file")] = None,
    earlier: Annotated[
        Path | None, typer.Option("--compare", help="Results of an earlier evaluation")
    ] = None,
    as_json_document: JsonDocument = False,
) -> None:
    """Measure nDCG@10, recall and MRR with intervals of 95 %, for each mode and variant.

    Exit code 1 if a mode is worse than in the results given with --compare by more than chance, or
    if a document of the corpus could not be processed.
    """
    if (qrels is None) == (judgements is None):
        raise CommandError("name a file of judgements, or --judgements SET")
    variants = [_DEFAULT, *(_variant(text) for text in variant or ())]
    before = {one.key: one for one in read_runs(earlier)} if earlier else {}
    with open_client() as client:
        given = (
            load_questions(qrels, queries, grades)
            if qrels is not None
            else _stored_questions(client, str(judgements))
        )
        for note in given.notes:
            notes().print(plain(note))
        questions = given.questions
        if corpus:
            questions = _load(client, corpus, chunk_size, questions)
        runs = _ask_all(client, questions, mode or tuple(Mode), variants, depth)
    against_earlier = [
        compare(one, before[one.key], name=_against(one, "earlier"))
        for one in runs
        if one.key in before
    ]
    comparisons = [*against_earlier, *_against_default(runs)]
    result = as_json(
        runs,
        comparisons,
        createdAt=datetime.now(UTC).isoformat(timespec="seconds"),
        judgements=judgements if qrels is None else qrels.name,
        depth=depth,
        variants={one.name: one.fields for one in variants},
    )
    if save is not None:
        _write(save, result)
    if as_json_document:
        print_json(result)
    else:
        out().print(count(len(questions), "question"))
        print_runs(out(), runs)
        for comparison in comparisons:
            print_comparison(out(), comparison)
    if earlier and not against_earlier:
        raise CommandError(f"{earlier} has none of these modes and variants")
    if any(one.is_worse for one in against_earlier):
        raise typer.Exit(exits.FAILED)


def _stored_questions(client: Client, name: str) -> QuestionSet:
    stored = client.pages("/api/judgements", limit=200, set=name)
    with NamedTemporaryFile("w", suffix=".jsonl") as file:
        for one in stored:
            target = {"document": one["uri"], "quote": one["quote"], "gain": one["grade"]}
            line = {"query": one["query"], "filter": one["filter"], "target": target}
            file.write(json.dumps(line) + "\n")
        if file.tell() == 0:
            raise CommandError(f"the service has no judgements in a set {name}")
        file.flush()
        return load_questions(Path(file.name), None)


def _variant(text: str) -> Variant:
    name, _, fields = text.partition("=")
    try:
        value = json.loads(fields)
    except ValueError:
        value = None
    if not name or not isinstance(value, dict):
        raise CommandError(f"--variant {text}: not a name, `=` and a JSON object")
    return Variant(name=name, fields=value)


def _load(
    client: Client, corpus: Sequence[Path], chunk_size: int | None, questions: Sequence[Question]
) -> list[Question]:
    """Upload the documents, and return the questions with a filter for them."""
    name = corpus[0].name if chunk_size is None else f"{corpus[0].name} in chunks of {chunk_size}"
    metadata = {"corpus": name}
    options = UploadOptions(
        metadata=metadata, chunking=None if chunk_size is None else {"size": chunk_size}
    )
    with corpus_files(corpus, name) as files:
        result = upload_files(client, files, options)
    print_result(notes(), result)
    if result.has_failures:
        raise typer.Exit(exits.FAILED)
    return [replace(one, filter={**(one.filter or {}), "metadata": metadata}) for one in questions]


def _ask_all(
    client: Client,
    questions: Sequence[Question],
    modes: Sequence[str],
    variants: Sequence[Variant],
    depth: int,
) -> list[Run]:
    runs = []
    total = len(questions) * len(modes) * len(variants)
    columns = (MofNCompleteColumn(), TimeRemainingColumn())
    with progress_bar("asking", total, *columns) as (bar, task):
        for mode in modes:
            for variant in variants:
                one = run(
                    questions,
                    _patient(client),
                    mode=mode,
                    variant=variant,
                    depth=depth,
                    on_question=lambda: bar.advance(task),
                )
                if one.degraded:
                    notes().print(
                        plain(f"{' '.join(one.key)}: {one.degraded} answers were degraded")
                    )
                runs.append(one)
    return runs


def _patient(
    client: Client, *, sleep: Callable[[float], None] = time.sleep
) -> Callable[[Mapping[str, Any]], Any]:
    def ask(body: Mapping[str, Any]) -> Any:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return client.post("/api/search", body)
            except (Unreachable, ServiceError) as error:
                if not error.is_temporary or attempt == _ATTEMPTS:
                    raise
            sleep(_PAUSE_SECONDS)
        raise AssertionError

    return ask


def _against(one: Run, other: str) -> str:
    return f"{' '.join(part for part in one.key if part)} against {other}"


def _against_default(runs: Sequence[Run]) -> list[Comparison]:
    defaults = {one.mode: one for one in runs if one.variant == _DEFAULT.name}
    return [
        compare(one, defaults[one.mode], name=_against(one, f"{one.mode} alone"))
        for one in runs
        if one.variant != _DEFAULT.name
    ]


def _write(file: Path, result: Mapping[str, Any]) -> None:
    try:
        file.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n")
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from None
