"""Reads Prometheus' text format in tests."""

from collections.abc import Mapping
from dataclasses import dataclass

import httpx
from prometheus_client.parser import text_string_to_metric_families


@dataclass(frozen=True)
class Scrape:
    """The samples in one answer of GET /metrics."""

    labels: Mapping[str, frozenset[str]]
    """Label names, by sample name."""
    samples: Mapping[tuple[str, frozenset[tuple[str, str]]], float]

    def value(self, name: str, **labels: str) -> float | None:
        """The value of a sample; None if there is none."""
        return self.samples.get((name, frozenset(labels.items())))


async def scrape(client: httpx.AsyncClient) -> Scrape:
    answer = await client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    samples = [
        sample
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    ]
    return Scrape(
        labels={sample.name: frozenset(sample.labels) for sample in samples},
        samples={
            (sample.name, frozenset(sample.labels.items())): sample.value for sample in samples
        },
    )
