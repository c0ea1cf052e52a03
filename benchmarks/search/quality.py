"""Search quality: Cranfield, uploaded to a real service and queried.

Each abstract is a file. A document is ranked by its best chunk: more than ten chunks are requested,
and their first ten documents are judged. The reference is BM25 over whole abstracts with a stemmer,
with the settings that its library recommends.
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.core.environments import Unavailable, peers_in, python_of, run_script
from benchmarks.core.options import Options
from benchmarks.core.postgres import Server
from benchmarks.core.results import Table
from benchmarks.search.cranfield import Collection, Question, measures
from benchmarks.search.timing import MODES
from harness.service import Service, services, until

Rankings = Sequence[Sequence[int]]

EMBEDDERS: Final = ("local", "quantized", "static")
_HITS: Final = 20
_LONGEST_INGEST: Final = 1800.0
_LONGEST_PEER: Final = 300.0
_PEERS: Final = Path(__file__).parent / "peers"
_NOTE: Final = (
    "nDCG@10 of {questions} questions over {documents:,} abstracts of Cranfield: gain 4 for a "
    "complete answer down to 1, linear, discount log2. The paper that a question came from "
    "(code -1) counts as a complete answer, as the collection's notes have it; in the last column "
    "it counts as no answer. In brackets: intervals of 95 %, by bootstrap over the questions. "
    "BM25 ranks whole abstracts; rag-ingest ranks chunks, of which a document has its best."
)


def quality(server: Server, collection: Collection, options: Options) -> Table:
    rows = [*_reference(collection, options)]
    for embedder in EMBEDDERS:
        with server.database(f"search_cranfield_{embedder}", migrated=True) as dsn:
            found = _ours(dsn, embedder, collection)
        rows += [_row(f"rag-ingest, {embedder}, {mode}", found[mode], collection) for mode in MODES]
    return Table(
        title="Quality on Cranfield",
        columns=["", "nDCG@10", "recall@10", "MRR", "without the paper asked from"],
        rows=rows,
        note=_NOTE.format(questions=len(collection.questions), documents=len(collection.documents)),
    )


def _reference(collection: Collection, options: Options) -> list[list[str]]:
    """BM25, or the reason why it could not be run."""
    if not options.peers:
        return []
    rows = []
    arguments = {
        "documents": list(collection.documents.values()),
        "questions": [question.text for question in collection.questions],
        "depth": _HITS,
    }
    numbers = list(collection.documents)
    for peer in peers_in(_PEERS):
        try:
            python = python_of(peer, environments=options.environments)
            answer = run_script([python, peer.script], arguments, timeout=_LONGEST_PEER)
        except Unavailable as why:
            rows.append([f"{peer.version()} (not run: {why})", "", "", "", ""])
            continue
        found = [[numbers[place] for place in ranking] for ranking in answer["rankings"]]
        rows.append(_row(f"BM25 with a stemmer ({peer.version()})", found, collection))
    return rows


def _row(name: str, found: Rankings, collection: Collection) -> list[str]:
    strict = [question.without_source() for question in collection.questions]
    of_all, of_strict = measures(found, collection.questions), measures(found, strict)
    return [
        name,
        *(f"{mean:.3f} [{low:.3f}, {high:.3f}]" for mean, low, high in of_all.values()),
        f"{of_strict['nDCG@10'].mean:.3f}",
    ]


def _ours(dsn: str, embedder: str, collection: Collection) -> Mapping[str, Rankings]:
    """The documents found for each question, by mode."""
    with (
        tempfile.TemporaryDirectory() as folder,
        services(
            data=Path(folder), env={"DATABASE_URL": dsn, "INGEST_EMBEDDER": embedder}
        ) as start,
    ):
        service = start("serve").wait_until_ready()
        _upload(service, collection)
        return {
            mode: [_found(service, question, mode) for question in collection.questions]
            for mode in MODES
        }


def _upload(service: Service, collection: Collection) -> None:
    files = [(f"{number}.txt", text.encode()) for number, text in collection.documents.items()]
    batch = service.upload(files)["batchId"]

    def is_done() -> bool:
        counts = service.get(f"/api/batches/{batch}")
        return bool(counts["completed"] + counts["failed"] == len(files))

    until(is_done, within=_LONGEST_INGEST, every=0.5)
    counts = service.get(f"/api/batches/{batch}")
    assert counts["completed"] == len(files), counts


def _found(service: Service, question: Question, mode: str) -> list[int]:
    hits = service.search(question.text, mode=mode, limit=_HITS)
    return list(dict.fromkeys(int(hit["uri"].removesuffix(".txt")) for hit in hits))
