"""txtai: vectors by its LiteLLM interface, ANN in pgvector, content in Postgres.

- `batch`, the number of texts it sends as one request: as many as certainly fit. It sends one
  request after the other and has no setting for more.
- Chunks by Chonkie's recursive chunker, which its Textractor offers; sizes in characters.
- Its `index` writes vectors at the end and then builds the HNSW index. `save` commits.
"""

import tempfile

import psycopg2
from chonkie import RecursiveChunker
from task import Stopwatch, arguments, characters, files
from txtai import Embeddings

TASK = arguments()


def main() -> None:
    url = TASK["url"].replace("postgresql://", "postgresql+psycopg2://")
    embeddings = Embeddings(
        path=f"openai/{TASK['model']}",
        method="litellm",
        vectors={
            "api_base": TASK["base_url"],
            "api_key": "sk-bench",
            "dimensions": TASK["dimension"],
        },
        backend="pgvector",
        pgvector={"url": url, "table": "vectors"},
        content=url,
        batch=TASK["texts_per_request"],
    )
    split = RecursiveChunker(tokenizer="character", chunk_size=characters(TASK, TASK["tokens"]))
    watch = Stopwatch()
    embeddings.index(
        (f"{file.name}-{number}", chunk.text)
        for file in files(TASK)
        for number, chunk in enumerate(split(file.read_text()))
    )
    with tempfile.TemporaryDirectory() as folder:
        embeddings.save(folder)
    watch.stop()
    with psycopg2.connect(TASK["url"]) as connection, connection.cursor() as cursor:
        cursor.execute("select count(*) from vectors")
        watch.answer(chunks=cursor.fetchone()[0])


if __name__ == "__main__":
    main()
