"""Cuts a document into chunks that respect its structure."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from ingest.chunking.boundaries import Boundaries
from ingest.chunking.definitions import definitions_of
from ingest.chunking.packing import Packer
from ingest.chunking.structure import Heading, Position, Sections, Structure, heading_paths
from ingest.chunking.structure_reader import read_structure
from ingest.chunking.token_map import TokenMap
from ingest.model import Chunk, ChunkBy, Document, Page
from ingest.optional_steps import improve
from ingest.tokens.tokenizers import Tokenizer

_SMALLEST_BUDGET = 8  # a single character can be five tokens


def chunk(
    document: Document,
    *,
    tokenizer: Tokenizer,
    size: int,
    overlap: int,
    by: ChunkBy = "heading",
) -> list[Chunk]:
    """Cut the whole document into chunks of at most `size` tokens, each counted on its own.

    `size` includes what the model adds to a text (`tokenizer.special_tokens`) and the chunk's
    `repeated_header`: the table header or opening code fence of the block in which the chunk
    starts. Table rows, list items and lines of code that fit a chunk are never cut. No chunk is
    blank; a blank document has no chunks.

    `by` names what ends a chunk that still has room:
    - `heading`: a heading, preferably of a high level.
    - `page`: the start of a page; documents without pages are cut as by heading.
    - `row`: the end of each table row and list item, including nested items.
    - `size`: nothing.

    Neighbouring chunks share up to `overlap` tokens: none across such an end, and only whole rows
    of tables and lists. Raises ValueError if `size` and `overlap` do not work together.
    """
    budget = size - tokenizer.special_tokens
    if budget < _SMALLEST_BUDGET or not 0 <= 2 * overlap <= size:
        raise ValueError(f"chunks of {size} tokens cannot overlap by {overlap}")
    structure = improve(
        "chunk_structure", lambda: read_structure(document.text), otherwise=Structure
    )
    structure.definitions.extend(
        improve(
            "chunk_structure",
            lambda: definitions_of(document.text, structure),
            otherwise=list[Heading],
        )
    )
    return improve(
        "chunk_structure",
        lambda: _cut(document, structure, tokenizer, budget=budget, overlap=overlap, by=by),
        otherwise=lambda: _cut(
            document, Structure(), tokenizer, budget=budget, overlap=overlap, by="size"
        ),
    )


def _cut(
    document: Document,
    structure: Structure,
    tokenizer: Tokenizer,
    *,
    budget: int,
    overlap: int,
    by: ChunkBy,
) -> list[Chunk]:
    boundaries = Boundaries(document.text, structure, by_size=by == "size")
    packer = Packer(
        document.text,
        tokens=TokenMap(document.text, tokenizer),
        boundaries=boundaries,
        breaks=_breaks(document, boundaries, by),
        budget=budget,
        overlap=overlap,
    )
    headings = [*structure.headings, *structure.definitions]
    heading_starts = [heading.start for heading in headings]
    paths = [(), *heading_paths(headings)]
    sections = Sections(headings, len(document.text))
    chunks = []
    for ordinal, (start, end, tokens, header) in enumerate(packer.cuts()):
        text = document.text[start:end]
        first, last = bisect_right(heading_starts, start), bisect_left(heading_starts, end)
        chunks.append(
            Chunk(
                ordinal=ordinal,
                text=document.text[slice(*header)] + text if header else text,
                token_count=tokens,
                start=start,
                end=end,
                headings=paths[first],
                page=_page(document.pages, start),
                page_end=_page(document.pages, end - 1),
                repeated_header=header,
                section=sections.around(start, end),
                sections=tuple(
                    _next_section(heading, path)
                    for heading, path in zip(
                        headings[first:last], paths[first + 1 : last + 1], strict=True
                    )
                ),
            )
        )
    return chunks


def _next_section(heading: Heading, path: Sequence[str]) -> tuple[int, int, str]:
    return heading.start, len(path) - bool(heading.title), heading.title


def _breaks(document: Document, boundaries: Boundaries, by: ChunkBy) -> list[Position]:
    if by == "row":
        return boundaries.row_breaks()
    if by == "size":
        return []
    return [page.start for page in document.pages if by == "page" or _is_numbered(page, document)]


def _is_numbered(page: Page, document: Document) -> bool:
    """Whether it is a slide without a title, which has nothing to do with the one before."""
    return document.text.startswith(f"## Slide {page.number}\n", page.start)


def _page(pages: tuple[Page, ...], position: Position) -> int | None:
    index = bisect_right(pages, position, key=lambda page: page.start) - 1
    return pages[index].number if index >= 0 else None
