"""The alert rules: they parse, and speak of metrics and labels that GET /metrics really has."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import promql_parser as promql
import pytest
import yaml

from ingest.observability import metrics
from ingest.postgres.database import Connection
from tests.support.prometheus_text import Scrape, scrape

FILE = Path(__file__).parents[3] / "deploy" / "prometheus" / "alerts.yaml"
RULES: list[dict[str, Any]] = [
    rule for group in yaml.safe_load(FILE.read_text())["groups"] for rule in group["rules"]
]
# What processes count themselves, and is added up; all else is the database's.
OWN = re.compile(r"rag_ingest_\w+_(total|count|sum|bucket)")


@pytest.fixture
async def scraped(anonymous: httpx.AsyncClient, conn: Connection) -> Scrape:
    """Metrics of a service in which everything has happened once."""
    await conn.execute("insert into rag.lanes (lane) values ('openai/x#1')")
    for status in ("completed", "failed", "review_needed"):
        metrics.attempts_ended({metrics.AttemptKind("file", status): [1]})
    await anonymous.get("/healthz")
    return await scrape(anonymous)


def inner(expr: Any) -> list[Any]:
    """The expressions that an expression is made of."""
    parts = [getattr(expr, name, None) for name in ("lhs", "rhs", "expr", "vector_selector")]
    return [part for part in [*parts, *getattr(expr, "args", [])] if part is not None]


def walk(expr: Any, around: tuple[Any, ...] = ()) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Every part of an expression with those that it is in, the outermost first."""
    yield expr, around
    for part in inner(expr):
        yield from walk(part, (*around, expr))


def selectors(rule: dict[str, Any]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    for part, around in walk(promql.parse(rule["expr"])):
        if isinstance(part, promql.VectorSelector):
            yield part, around


def test_alert_rules_cover_known_failures() -> None:
    names = {rule["alert"].removeprefix("RagIngest") for rule in RULES}

    assert names >= {
        "QueueDeep",
        "OldestJobWaits",
        "FailureRate",
        "JobsStuck",
        "ReviewsWait",
        "Paused",
        "NoWorker",
        "WorkersDie",
        "LanePaused",
        "NotificationsFail",
        "DatabaseUnreachable",
    }
    assert all({"severity"} == rule["labels"].keys() for rule in RULES)
    assert all(rule["annotations"]["summary"] for rule in RULES)


async def test_rules_name_metrics_and_labels_that_exist(scraped: Scrape) -> None:
    seen = 0
    for rule in RULES:
        for selector, around in selectors(rule):
            seen += 1
            assert selector.name in scraped.labels, rule["alert"]
            labels = scraped.labels[selector.name]
            named = {matcher.name for matcher in selector.matchers.matchers}
            grouped = {
                label
                for part in around
                if isinstance(part, promql.AggregateExpr) and part.modifier
                for label in part.modifier.labels
            }
            assert named | grouped <= labels, rule["alert"]
            assert matching(scraped, selector), rule["alert"]
    assert seen > 15


def matching(scraped: Scrape, selector: Any) -> bool:
    """Whether a sample has the values that the selector names with `=`."""
    wanted = {
        (matcher.name, matcher.value)
        for matcher in selector.matchers.matchers
        if matcher.op == promql.MatchOp.Equal
    }
    return any(name == selector.name and wanted <= labels for name, labels in scraped.samples)


def test_cluster_wide_metrics_are_not_summed_over_processes() -> None:
    """`sum` of a gauge of the database would grow with the number of processes."""
    for rule in RULES:
        for selector, around in selectors(rule):
            nearest = str(around[-1]).partition("(")[0].split()[0] if around else ""
            if OWN.fullmatch(selector.name):
                assert nearest in ("rate", "increase") or "[" in str(around[-1]), rule["alert"]
            else:
                assert nearest in ("max", "min", "absent"), rule["alert"]


def test_annotations_name_labels_that_the_alert_has() -> None:
    for rule in RULES:
        text = " ".join(rule["annotations"].values())
        outer = [
            set(part.modifier.labels)
            for part, _ in walk(promql.parse(rule["expr"]))
            if isinstance(part, promql.AggregateExpr) and part.modifier
        ]
        for label in re.findall(r"\$labels\.(\w+)", text):
            assert outer, rule["alert"]
            assert label in outer[0], rule["alert"]
