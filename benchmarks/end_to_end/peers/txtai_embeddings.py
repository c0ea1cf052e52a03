"""txtai: an Embeddings database with its content and vectors (pgvector) in Postgres.

Textractor reads and chunks: text as it is, HTML with its own converter, PDFs with the fastest of
its backends (liteparse); chunks come from chonkie's recursive chunker. The first run is one
`index`, the usual way to load a corpus; txtai builds its HNSW index at the end of it. The second
run is an `upsert` of everything, because txtai does not detect unchanged files.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from liteparse import LiteParse
from task import Task, answer
from txtai import Embeddings
from txtai.pipeline import Textractor

_ROWS = "select text, embedding from sections join vectors using (indexid)"


def prepare(task: Task) -> Callable[[], object]:
    model = task.embedder()
    url = task.url_for("psycopg2")
    embeddings = Embeddings(
        method="external",
        transform=lambda texts: model.embed(texts),  # it accepts only plain functions
        content=url,
        backend="pgvector",
        pgvector={"url": url, "m": 16, "efconstruction": 64},
    )
    textractor = Textractor(
        chunker="recursive",
        tokenizer="character",
        chunk_size=task.characters,
        backend="liteparse" if task.kind == "pdf" else None,
    )
    if task.kind == "pdf":
        # As txtai creates it, but without OCR, which no other contestant uses.
        textractor.html.backend.liteparse = LiteParse(output_format="markdown", ocr_enabled=False)
    state = Path(task.scratch) / "state"

    def pieces() -> Iterator[tuple[str, str]]:
        for path in task.files:
            for number, piece in enumerate(textractor(str(path))):
                yield f"{path.name}#{number}", piece

    def ingest() -> None:
        if state.exists():
            embeddings.upsert(pieces())
        else:
            embeddings.index(pieces())
        embeddings.save(str(state))

    textractor(str(task.files[0]))
    return ingest


answer(prepare, rows=_ROWS, index="built at the end")
