"""From files to searchable chunks, compared with widely used pipelines.

All contestants use the same files, the same embedder, chunks of about 512 tokens with an overlap of
an eighth, an HNSW index, and the same Postgres with pgvector. The embedder uses static token
vectors, because the pipeline is measured, not a model. The service gets its files in one upload and
does all that it always does: blobs, a queue, events, fences. The peers are libraries that read the
folder. The limit is a script written for this single load. A contestant that does not store every
file with the right vectors is rejected.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.core.options import Options
from benchmarks.core.postgres import Server
from benchmarks.core.results import Goal, Race, Section, Table
from benchmarks.end_to_end import ours
from benchmarks.end_to_end.field import IN_PLACE, OURS, Field, Result
from benchmarks.end_to_end.unchanged import unchanged_goals, unchanged_race
from benchmarks.end_to_end.works import Work, html_work, pdf_work, text_work

_MIB = 1024 * 1024
_TEXT = """\
From the first byte of the upload (ours), or from the start of the run in a process that has all
imported and opened (the others), until all chunks are stored and searchable. """


def run(server: Server, options: Options) -> Section:
    field = Field(server, options)
    section = Section(
        name="end_to_end",
        title="End to end: files to searchable chunks",
        text=_TEXT.replace("\n", " ").strip(),
    )
    with tempfile.TemporaryDirectory() as folder:
        for work in _works(Path(folder), options):
            result = field.race(work, again=work.kind == "text")
            section.races.append(_race(work, result))
            section.goals += _goals(work, section.races[-1], field.peers)
            section.tables += [_cpu_table(work, result), _stages_table(work, result)]
            if work.kind == "text":
                section.races.append(unchanged_race(result))
                section.goals += unchanged_goals(result, section.races[-1])
    section.goals.append(_memory_goal(server, options))
    return section


def _works(folder: Path, options: Options) -> list[Work]:
    texts, pages, documents = (24, 12, 4) if options.is_small else (1000, 300, 60)
    pdfs = pdf_work(folder / "pdf", options.corpus, count=documents) if options.corpus else None
    works = [text_work(folder / "text", count=texts), *([pdfs] if pdfs else [])]
    if options.corpus or not options.is_small:  # only tests make a small run without a corpus
        works.append(html_work(folder / "html", options.corpus, count=pages))
    return works


def _race(work: Work, result: Result) -> Race:
    settings = ", ".join(f"{name}={value}" for name, value in ours.SETTINGS.items() if value)
    return Race(
        title=work.title,
        unit="files/s",
        reference=OURS,
        rounds={
            name: [len(work.files) / outcome.seconds for outcome in outcomes]
            for name, outcomes in result.outcomes.items()
        },
        note=f"{work.note} {OURS} with {settings}.",
        facts={name: _facts(result, name) for name in result.outcomes},
        absent=result.absent,
    )


def _facts(result: Result, name: str) -> dict[str, str]:
    last = result.outcomes[name][-1]
    facts = {
        "chunks": f"{last.stored.chunks:,}",
        "tokens in them": f"{last.stored.tokens:,}",
        "memory, MiB": f"{max(outcome.memory for outcome in result.outcomes[name]) / _MIB:,.0f}",
        "HNSW index": last.index,
    }
    if isinstance(last, ours.OurOutcome):
        facts["all under the index after, s"] = f"{last.until_indexed:.2f}"
    return facts


def _cpu_table(work: Work, result: Result) -> Table:
    def row(name: str) -> list[str]:
        used = [outcome.cpu for outcome in result.outcomes[name]]
        middle = sorted(used, key=lambda cpu: cpu.total)[len(used) // 2]
        parts = middle.own - middle.parsers, middle.parsers, middle.postgres, middle.total
        return [name, *(f"{1000 * part / len(work.files):.1f}" for part in parts)]

    rows = [row(name) for name in result.outcomes]
    return Table(
        title=f"{work.title}: processor time, ms a file",
        columns=["", "main process", "its children", "Postgres", "all"],
        rows=sorted(rows, key=lambda cells: float(cells[-1])),
        note="Of the middle round. Two cores can do no more files in a second than 2,000 divided "
        f"by the last column. With {OURS}, until all vectors are under the index.",
    )


def _stages_table(work: Work, result: Result) -> Table:
    last = result.outcomes[OURS][-1]
    assert isinstance(last, ours.OurOutcome)
    shares = sorted(last.stages.items(), key=lambda share: -share[1])
    return Table(
        title=f"{work.title}: where the attempts of {OURS} spend their time",
        columns=["stage", "share"],
        rows=[[stage, f"{share:.0%}"] for stage, share in shares],
        note="Of the last round. Attempts run side by side: to wait is no loss as such.",
    )


def _goals(work: Work, race: Race, peers: Sequence[str]) -> list[Goal]:
    best = race.best(peers)
    against_best = None if best is None else race.ratio(OURS, best)
    texts = {
        "text": ("1,000 text files end to end, against the best peer", 1.0),
        "pdf": ("60 real PDFs end to end, against the best peer", 1.5),
        "html": ("300 HTML pages end to end, against the best peer", 2.0),
    }
    text, at_least = texts[work.kind]
    goals = [Goal(text=text, measured=against_best, at_least=at_least)]
    if work.kind == "text":
        goals.append(
            Goal(
                text="1,000 text files end to end, against a script with the index in place",
                measured=race.ratio(OURS, IN_PLACE),
                at_least=0.7,
            )
        )
    return goals


def _memory_goal(server: Server, options: Options) -> Goal:
    files = 50 if options.is_small else 4000
    growth = ours.growth_of_one_large_request(server, files=files)
    return Goal(
        text="growth of resident memory while one request brings 4,000 files",
        measured=growth / _MIB,
        at_most=100,
        unit="MiB",
    )
