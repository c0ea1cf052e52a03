"""The metrics of several processes at one address: sums that do not fall when one ends."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ingest.observability.merged_metrics import MergedMetrics, parsed


class _Process:
    def __init__(self, *, attempts: int, seconds: float, listening: int, kind: str) -> None:
        self.registry = CollectorRegistry()
        counter = Counter("rag_ingest_attempts", "Attempts.", ["type"], registry=self.registry)
        counter.labels('a "quoted"\n' + kind).inc(attempts)
        counter.labels("file").inc(attempts)
        histogram = Histogram(
            "rag_ingest_claim_seconds", "Claims.", registry=self.registry, buckets=(0.1, 1.0)
        )
        histogram.observe(seconds)
        gauge = Gauge("rag_ingest_listening", "Listening.", registry=self.registry)
        gauge.set(listening)
        Gauge("process_open_fds", "Files.", registry=self.registry).set(10)

    @property
    def text(self) -> str:
        return generate_latest(self.registry).decode()


def _values(merged: MergedMetrics) -> dict[tuple[str, str], float]:
    return {
        (sample.name, ",".join(sample.labels.values())): sample.value
        for family in merged.collect()
        for sample in family.samples
    }


def test_counts_add_up_and_one_deaf_process_is_not_hidden() -> None:
    merged = MergedMetrics()
    merged.add(_Process(attempts=2, seconds=0.05, listening=1, kind="x").registry.collect())
    merged.add(parsed(_Process(attempts=5, seconds=0.5, listening=0, kind="y").text))

    values = _values(merged)

    assert values["rag_ingest_attempts_total", "file"] == 7
    assert values["rag_ingest_attempts_total", 'a "quoted"\nx'] == 2
    assert values["rag_ingest_attempts_total", 'a "quoted"\ny'] == 5
    assert values["rag_ingest_claim_seconds_bucket", "0.1"] == 1
    assert values["rag_ingest_claim_seconds_bucket", "1.0"] == 2
    assert values["rag_ingest_claim_seconds_count", ""] == 2
    assert values["rag_ingest_listening", ""] == 0
    assert values["process_open_fds", ""] == 20


def test_of_a_process_that_has_ended_only_the_counts_stay() -> None:
    merged = MergedMetrics()
    merged.add(
        parsed(_Process(attempts=2, seconds=0.05, listening=0, kind="x").text), has_ended=True
    )
    merged.add(parsed(_Process(attempts=1, seconds=0.05, listening=1, kind="x").text))

    values = _values(merged)

    assert values["rag_ingest_attempts_total", "file"] == 3
    assert values["rag_ingest_claim_seconds_count", ""] == 2
    assert values["rag_ingest_listening", ""] == 1
    assert values["process_open_fds", ""] == 10


def test_one_process_reads_as_it_was_written() -> None:
    text = _Process(attempts=2, seconds=0.05, listening=1, kind="x").text
    merged = MergedMetrics()
    merged.add(parsed(text))

    assert generate_latest(merged).decode() == text
