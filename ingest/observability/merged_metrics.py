"""The metrics of several processes as those of one."""

from collections.abc import Iterable, Iterator
from typing import Final

from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

# Of these the least value is the truth about all processes; everything else adds up.
_LEAST: Final = frozenset(
    {"rag_ingest_listening", "rag_ingest_parser_jail", "process_start_time_seconds"}
)
_COUNTED: Final = frozenset({"counter", "histogram"})


class MergedMetrics(Collector):
    """The sums of the metrics of some processes, at one moment."""

    def __init__(self) -> None:
        self._families: dict[str, Metric] = {}
        self._samples: dict[tuple[str, frozenset[tuple[str, str]]], tuple[str, Sample]] = {}

    def add(self, families: Iterable[Metric], *, has_ended: bool = False) -> None:
        """Add a process. Of one that has ended, only what it counted."""
        for family in families:
            if has_ended and family.type not in _COUNTED:
                continue
            self._families.setdefault(family.name, family)
            for sample in family.samples:
                key = sample.name, frozenset(sample.labels.items())
                _, before = self._samples.get(key, (family.name, None))
                self._samples[key] = family.name, _merged(before, sample)

    def collect(self) -> Iterator[Metric]:
        merged = {
            name: Metric(name, family.documentation, family.type)
            for name, family in self._families.items()
        }
        for name, sample in self._samples.values():
            merged[name].samples.append(sample)
        yield from merged.values()


def parsed(text: str) -> list[Metric]:
    """The families of an exposition in the text format. Raises ValueError."""
    return list(text_string_to_metric_families(text))


def _merged(before: Sample | None, sample: Sample) -> Sample:
    if before is None:
        return sample
    combine = min if sample.name in _LEAST else sum
    return before._replace(value=combine((before.value, sample.value)))
