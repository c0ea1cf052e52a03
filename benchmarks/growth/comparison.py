"""Does a file cost as much with 100,000 documents stored as with 1,000?

There are no peers: an installation is compared with itself. Three installations of different sizes
are filled (`prefill`) on the same Postgres, first with one application that owns everything, then
with 100 that own equal shares. In each round, in alternating order, a real `ingest serve` is
started on each of them. It ingests new small text files (`uploads`), answers typical requests
(`questions`), and then does its periodic work (`chores`). The cost of an HNSW insert alone (`hnsw`)
and the storage (`storage`) are measured last. CPU time covers all processes of the service and of
Postgres: on a machine with other load it says more than elapsed time.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

from benchmarks.core.options import Options
from benchmarks.core.postgres import Server
from benchmarks.core.results import Section, alternate
from benchmarks.growth.figures import goals, questions, races
from benchmarks.growth.hnsw import insert_cpu
from benchmarks.growth.installation import Installation
from benchmarks.growth.prefill import fill, upload_one
from benchmarks.growth.storage import sizes
from benchmarks.growth.texts import Texts


@dataclass(frozen=True, slots=True)
class Scale:
    """The sizes and counts of a run."""

    stored: Sequence[int] = (1_000, 10_000, 100_000)
    applications: Sequence[int] = (1, 100)
    files: int = 300
    """New files per round."""
    warm_up: int = 20
    deleted: int = 20
    inserts: int = 300


_TEMPLATE: Final = "growth_template"
_SMALL: Final = Scale(stored=(40, 80), applications=(1,), files=6, warm_up=2, deleted=2, inserts=10)


def run(server: Server, options: Options) -> Section:
    """Run all measurements."""
    scale = _SMALL if options.is_small else Scale()
    section = Section(
        name="growth",
        title="Growth: the same work with more and more stored",
        text=(
            "New small text files, each a chunk, come into installations that already hold many of "
            f"them: {scale.files} in each round, after {scale.warm_up} or more that warm up, by "
            "`ingest serve` with the static embedder (256 dimensions) and default settings."
        ),
    )
    texts = Texts()
    for count in scale.applications:
        who = "one application" if count == 1 else f"{count} applications"
        with _installations(server, scale, count, texts) as installations:
            _rounds(server, options, scale, installations, texts)
            index = {
                one.name: insert_cpu(one.dsn, texts, count=scale.inserts) * 1000
                for one in installations
            }
            measured = races(who, installations, index)
            section.races += measured
            section.goals += goals(measured)
            section.tables.append(questions(who, installations))
            if count == scale.applications[0]:
                section.tables.append(sizes(installations[-1].dsn))
    return section


@contextmanager
def _installations(
    server: Server, scale: Scale, applications: int, texts: Texts
) -> Iterator[Sequence[Installation]]:
    with ExitStack() as stack:
        upload_one(stack.enter_context(server.database(_TEMPLATE, migrated=True)), texts)
        installations = []
        for stored in scale.stored:
            name = f"growth_{stored}"
            dsn = stack.enter_context(server.database(name, template=_TEMPLATE))
            ids = fill(dsn, documents=stored, applications=applications, texts=texts)
            installations.append(Installation(dsn=dsn, stored=stored, applications=ids))
            print(f"  filled: {stored:,} documents of {applications} applications", flush=True)
        yield installations


def _rounds(
    server: Server,
    options: Options,
    scale: Scale,
    installations: Sequence[Installation],
    texts: Texts,
) -> None:
    def one_round(installation: Installation, number: int) -> float:
        """Milliseconds per file."""
        server.settle()
        warm_up = installation.new_files(scale.warm_up, texts, seed=2 * number + 2)
        files = installation.new_files(scale.files, texts, seed=2 * number + 3)
        installation.round(files, warm_up=warm_up, deleted=scale.deleted)
        return installation.spent[-1].searchable.seconds * 1000

    alternate({one.name: partial(one_round, one) for one in installations}, rounds=options.rounds)
