"""Bytes on disk, by table and index, per document."""

from typing import Final

import psycopg

from benchmarks.core.results import Table

_MIB: Final = 1024 * 1024
_LEAST_SHARE: Final = 0.005

_RELATIONS: Final = """
select heap.relname, '(rows)', pg_table_size(heap.oid)
  from pg_class as heap
 where heap.relnamespace = 'rag'::regnamespace and heap.relkind = 'r'
union all
select heap.relname, index.relname, pg_relation_size(index.oid)
  from pg_index
  join pg_class as heap on heap.oid = indrelid
  join pg_class as index on index.oid = indexrelid
 where heap.relnamespace = 'rag'::regnamespace and heap.relkind = 'r'
 order by 3 desc
"""
_COUNTS: Final = (
    "select (select count(*) from rag.documents), (select count(*) from rag.chunks), "
    "(select sum(octet_length(content)) from rag.chunks)"
)


def sizes(dsn: str) -> Table:
    """Sizes, largest first; those below a 200th of the total are combined into one row."""
    with psycopg.connect(dsn) as conn:
        found = conn.execute(_RELATIONS).fetchall()
        [(documents, chunks, text)] = conn.execute(_COUNTS).fetchall()
    total = sum(size for _, _, size in found)
    large = [row for row in found if row[2] >= total * _LEAST_SHARE]
    rest = total - sum(size for _, _, size in large)
    rows = [
        [table, part, f"{size / _MIB:,.1f}", f"{size / documents:,.0f}"]
        for table, part, size in [*large, ("all others", "", rest), ("all", "", total)]
    ]
    return Table(
        title=f"Storage at {documents:,} documents",
        columns=["table", "index", "MiB", "bytes per document"],
        rows=rows,
        note=(
            f"{chunks / documents:.2f} chunks per document, {text / chunks:,.0f} bytes of text per "
            "chunk. Rows are those that the service leaves, with what Postgres stores out of line; "
            "indexes were mostly built in one go, so those of an installation that has grown file "
            "by file are larger by their free space."
        ),
    )
