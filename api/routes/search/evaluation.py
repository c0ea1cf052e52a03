"""Evaluation: how well searches find what people judged to be the answer."""

import time
from collections.abc import Mapping
from datetime import timedelta
from itertools import groupby
from typing import Annotated, Any, Final

from pydantic import Field

from api.authenticated_route import KeyedRouter
from api.authentication import Key
from api.dependencies import InUseDep, PoolDep, RuntimeDep, Viewer
from api.routes.search.judgements import SetName
from api.routes.search.search import SearchRequest, SearchSettings, answer_of
from api.schema import pagination
from api.schema.json_model import Body, Whole
from api.schema.pagination import Cursor, Limit, Page
from ingest.errors import NotFound
from ingest.postgres.database import transaction
from ingest.runtime import Runtime
from ingest.search.evaluation.ask import Ask, Evaluation, Found, ask_all
from ingest.search.evaluation.measures import Interval, bootstrap, paired_differences
from ingest.search.evaluation.questions import Question, Target
from ingest.store.search import judged_questions
from ingest.store.search.judged_questions import QuestionView
from ingest.store.view import View

router = KeyedRouter(prefix="/api/judgement-sets/{name}", tags=["search"])

MOST_QUESTIONS: Final = 200
LONGEST: Final = timedelta(seconds=30)
"""No question is asked later: an evaluation ends before proxies give up on it."""


@router.get("/questions")
async def list_judged_questions(
    name: SetName, pool: PoolDep, key: Viewer, *, limit: Limit = 50, cursor: Cursor = None
) -> Page[QuestionView]:
    """The questions of a set, those judged last first. Another filter makes another question."""
    async with transaction(pool) as conn:
        rows = await judged_questions.questions(
            conn,
            application_id=key.application_id,
            set_name=name,
            limit=limit + 1,
            before=pagination.time_and_hash(cursor),
        )
    return pagination.page(rows, limit, key=lambda row: (row.judged_at, row.question_hash.hex()))


class EvaluationRequest(Body):
    settings: Annotated[list[SearchSettings], Field(min_length=1, max_length=3)]
    """How to ask each question; the first is what the others are compared with."""
    questions: Annotated[Whole, Field(ge=1, le=MOST_QUESTIONS)] = 100
    """Most questions to ask."""
    depth: Annotated[Whole, Field(ge=10, le=100)] = 20
    """Hits asked for."""


class Mean(View):
    """Over the questions, with its interval of 95 %, by bootstrap."""

    mean: float
    low: float
    high: float


Measures = Mapping[str, float]


class EvaluationRun(View):
    """All questions, asked with one of the settings."""

    degraded: int
    """Searches that lacked a part: vectors, or the reranker."""
    measures: dict[str, Mean]
    """`ndcg@10`, `mrr`, `hit@1` and `recall@5` … up to the depth, each from 0 to 1."""
    differences: dict[str, Mean] | None
    """From the first run, question by question: above 0 is better, and chance does not explain it
    if 0 is outside the interval. Null: it is the first."""


class EvaluatedQuestion(View):
    query: str
    filter: Mapping[str, Any] | None
    answers: int
    """Judgements with a grade above 0."""
    measures: list[Measures]
    """Of each run."""


class EvaluationView(View):
    question_count: int
    """Questions of the set that have an answer."""
    asked: int
    """How many of them were asked, chosen by chance, but the same every time: fewer if `questions`
    is less, or the time was up."""
    stopped_by: str | None
    """The code of the error that ended the evaluation early."""
    runs: list[EvaluationRun]
    """Of the settings, in their order."""
    questions: list[EvaluatedQuestion]


@router.post("/evaluate")
async def evaluate_judgement_set(
    name: SetName,
    body: EvaluationRequest,
    pool: PoolDep,
    runtime: RuntimeDep,
    key: Viewer,
    in_use: InUseDep,
) -> EvaluationView:
    """Ask the questions of a set in up to three ways, and measure what is found.

    As `ingest eval`, for at most 30 seconds. What nobody judged counts as no answer.
    """
    async with transaction(pool) as conn:
        answers = await judged_questions.answers(
            conn, application_id=key.application_id, set_name=name, limit=body.questions
        )
    if not answers:
        raise NotFound("judgement of an answer")
    questions = [
        Question(
            id=hash.hex(),
            text=found[0].query,
            filter=found[0].filter,
            targets=[
                Target(document=one.uri, quote=one.quote, gain=float(one.grade)) for one in found
            ],
        )
        for hash, group in groupby(answers, key=lambda one: one.question_hash)
        for found in [list(group)]
    ]
    end = time.monotonic() + LONGEST.total_seconds()
    with in_use.limited("searches", key):
        evaluation = await ask_all(
            questions,
            [_way(settings, body.depth, runtime, key) for settings in body.settings],
            depth=body.depth,
            is_late=lambda: time.monotonic() >= end,
        )
    return _view(evaluation, answers[0].question_count)


def _way(settings: SearchSettings, depth: int, runtime: Runtime, key: Key) -> Ask:
    async def ask(question: Question) -> Found:
        request = SearchRequest.model_validate(
            {
                **settings.model_dump(by_alias=True, exclude_unset=True),
                "query": question.text,
                "limit": depth,
                "filter": question.filter or {},
            }
        )
        answer = await answer_of(request, runtime, key)
        return Found(
            hits=[hit.model_dump(mode="json", by_alias=True) for hit in answer.hits],
            is_degraded=bool(answer.degraded) or answer.reranked is False,
        )

    return ask


def _view(evaluation: Evaluation, question_count: int) -> EvaluationView:
    stopped_by = evaluation.stopped_by
    series = [evaluation.series(way) for way in range(len(evaluation.degraded))]
    return EvaluationView(
        question_count=question_count,
        asked=len(evaluation.asked),
        stopped_by=None if stopped_by is None else stopped_by.code,
        runs=[
            EvaluationRun(
                degraded=evaluation.degraded[way],
                measures=_means(bootstrap(one)),
                differences=_means(paired_differences(one, series[0])) if way else None,
            )
            for way, one in enumerate(series)
        ],
        questions=[
            EvaluatedQuestion(
                query=one.question.text,
                filter=one.question.filter,
                answers=len(one.question.targets),
                measures=list(one.measures),
            )
            for one in evaluation.asked
        ],
    )


def _means(intervals: Mapping[str, Interval]) -> dict[str, Mean]:
    return {name: Mean(**one._asdict()) for name, one in intervals.items()}
