"""What was left out of the pages of crawled sites, to be judged by reading, and what it saves.

Usage: python -m benchmarks.site_furniture DATABASE_URL [--blocks N]

For each site: pages, tokens of their text before and after, blocks that were found, and

- left: blocks that still begin or end at least half of the pages: furniture that was not found;
- lost: sentences of the whole texts that are in no text any more. There must be none.

Then the blocks, the most frequent first, with the number of pages and the page that keeps it. Crawl
the sites with `ingest crawl` before; precision is the share of the blocks that are furniture.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from uuid import UUID

import psycopg

from ingest.tokens.tokenizers import load_tokenizer
from ingest.web.furniture import decide, put_back, read_page
from ingest.web.page_blocks import split_blocks

_SITES = """
select source.id, source.uri, coalesce(found.blocks, '[]')
  from rag.knowledge_sources as source
  left join rag.site_furniture as found on found.source_id = source.id
 where source.type = 'site' and source.deleted_at is null order by source.uri"""
_PAGES = """
select uri, text, furniture from rag.documents
 where source_id = %s and deleted_at is null and media_type in ('text/html', 'text/markdown')
 order by uri"""


class StoredPage(NamedTuple):
    """A page as it is stored."""

    uri: str
    text: str
    left_out: list[tuple[int, str]]


def sentences(texts: Iterable[str]) -> set[str]:
    """What the blocks of prose say."""
    return {
        block.words
        for text in texts
        for block in split_blocks(text)
        if block.is_prose and not block.is_content
    }


def report(pages: list[StoredPage], kept: dict[str, str], *, most: int) -> Iterator[str]:
    """The lines about one site; `kept`: keys with the page that keeps the block."""
    tokenizer = load_tokenizer("cl100k_base")

    def tokens(texts: Iterable[str]) -> int:
        return sum(tokenizer.count(text) for text in texts)

    whole = [put_back(page.text, page.left_out) for page in pages]
    before, after = tokens(whole), tokens(page.text for page in pages)
    left = decide([read_page(page.uri, page.text) for page in pages])
    lost = sentences(whole) - sentences(page.text for page in pages)
    touched = sum(bool(page.left_out) for page in pages)
    yield f"  pages {len(pages)}, {touched} of them without furniture now; blocks {len(kept)}"
    yield f"  tokens {before:,} -> {after:,} ({1 - after / max(before, 1):.1%} less)"
    yield f"  left {len(left)}, lost {len(lost)}"
    found = Counter(" ".join(part.split())[:100] for page in pages for _, part in page.left_out)
    for part, count in found.most_common(most):
        yield f"  {count:5}  {part}"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("database_url")
    parser.add_argument("--blocks", type=int, default=20)
    arguments = parser.parse_args()
    with psycopg.connect(arguments.database_url) as conn:
        conn.execute("select set_config('app.application_id', '*', false)")
        sites: list[tuple[UUID, str, list[tuple[str, str]]]] = conn.execute(_SITES).fetchall()
        for id, uri, blocks in sites:
            pages = [StoredPage(*row) for row in conn.execute(_PAGES, [id]).fetchall()]
            print(uri)
            for line in report(pages, dict(blocks), most=arguments.blocks):
                print(line)


if __name__ == "__main__":
    main()
