"""Cuts a document into chunks: tokenise once, then pack greedily up to the best boundary.

Time is linear in the text, whatever it is: each chunk looks at a bounded number of characters.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

import numpy as np

from ingest.model import Chunk, ChunkBy, Document, Page
from ingest.pipeline.boundaries import Boundaries, Position
from ingest.pipeline.structure import heading_paths
from ingest.pipeline.tokenizers import Tokenizer
from ingest.vocabulary.pieces import LONGEST_EXACT, SEAM

_SMALLEST_BUDGET = 8  # a single character can be five tokens
# Some tokenizers read long stretches as one token: unknown words, spaces. Such chunks would be
# huge, and a vector of one token says nothing of them.
_MOST_CHARACTERS_PER_TOKEN = 16
_TAIL = 8  # the last chunk is not left with less than an eighth of a full one
_NOT_SPACE = re.compile(r"\S")


def chunk(
    document: Document,
    *,
    tokenizer: Tokenizer,
    size: int,
    overlap: int,
    by: ChunkBy = "heading",
) -> list[Chunk]:
    """All of the document, in chunks of at most `size` tokens by a fresh count of each.

    `size` includes what the model adds to a text (`tokenizer.special_tokens`). Neighbours share up
    to `overlap` tokens, none across a heading. No chunk is blank; a blank document has none.
    """
    budget = size - tokenizer.special_tokens
    if budget < _SMALLEST_BUDGET or not 0 <= 2 * overlap <= size:
        raise ValueError(f"chunks of {size} tokens cannot overlap by {overlap}")
    packer = _Packer(document.text, tokenizer, budget=budget, overlap=overlap)
    headings = packer.boundaries.structure.headings
    heading_starts = [heading.start for heading in headings]
    paths = [(), *heading_paths(headings)]
    return [
        Chunk(
            ordinal=ordinal,
            text=document.text[start:end],
            token_count=tokens,
            start=start,
            end=end,
            headings=paths[bisect_right(heading_starts, start)],
            page=_page(document.pages, start),
        )
        for ordinal, (start, end, tokens) in enumerate(packer.ranges())
    ]


def _page(pages: tuple[Page, ...], position: Position) -> int | None:
    index = bisect_right(pages, position, key=lambda page: page.start) - 1
    return pages[index].number if index >= 0 else None


class _Packer:
    def __init__(self, text: str, tokenizer: Tokenizer, *, budget: int, overlap: int) -> None:
        self.boundaries = Boundaries(text)
        self._text = text
        self._tokenizer = tokenizer
        # int64, as Python's integers are: searching 32 bits for one would convert all of them.
        self._starts = np.append(tokenizer.spans(text)[:, 0].astype(np.int64), len(text))
        self._budget = budget
        self._overlap = overlap

    def ranges(self) -> Iterator[tuple[Position, Position, int]]:
        """Start, end and token count of each chunk."""
        start = covered = self._skip_space(0)
        while covered < len(self._text):
            cut = self._cut(start, covered)
            if cut is None:  # the overlap leaves no room for anything new
                start = covered
                continue
            end, tokens = cut
            yield start, end, tokens
            covered = self._skip_space(end)
            start = self._overlapping_start(start, covered)

    def _cut(self, start: Position, covered: Position) -> tuple[Position, int] | None:
        """End and count of the chunk from `start`, which must reach beyond `covered`."""
        budget = self._first_budget(start)
        while True:
            limit = self._limit(start, budget)
            if limit <= covered:
                if start < covered:
                    return None
                limit = covered + 1
            end = self._end(start, covered, limit)
            tokens = self._count(start, end)
            if tokens <= self._budget or end == start + 1:
                return end, tokens
            # A part can have more tokens than it had within the whole.
            taken = self._token_at(end) - self._token_at(start)
            budget = min(budget - 1, taken - (tokens - self._budget))

    def _first_budget(self, start: Position) -> int:
        left = len(self._starts) - 1 - self._token_at(start)
        tail = self._budget // _TAIL
        return left - tail if self._budget < left <= self._budget + tail else self._budget

    def _limit(self, start: Position, budget: int) -> Position:
        budget = max(budget, 0)
        last = min(self._token_at(start) + budget, len(self._starts) - 1)
        limit = min(int(self._starts[last]), start + _MOST_CHARACTERS_PER_TOKEN * budget)
        return self._skip_space(limit)

    def _end(self, start: Position, covered: Position, limit: Position) -> Position:
        if limit < len(self._text):
            first, last = self._token_at(covered), self._token_at(limit)
            limit = self.boundaries.cut(
                after=covered,
                limit=limit,
                at=lambda fill: int(self._starts[first + int(fill * (last - first))]),
                fits=lambda a, b: self._token_at(b) - self._token_at(a) < self._budget,
            )
        return start + len(self._text[start:limit].rstrip())

    def _overlapping_start(self, start: Position, covered: Position) -> Position:
        if self._overlap == 0 or self.boundaries.is_heading(covered):
            return covered
        token = self._token_at(covered)
        first = int(self._starts[max(token - self._overlap, 0)])
        resumed = self._skip_space(self.boundaries.resume(max(first, start + 1), covered))
        block = self.boundaries.structure.block_around(covered + 1)
        if block:
            rest = self._token_at(block[1]) - token
            if rest <= self._budget < rest + token - self._token_at(resumed):
                return covered  # a table that fits is worth more than its overlap
        return min(resumed, covered)

    def _count(self, start: Position, end: Position) -> int:
        """What a fresh count of the range would give, for the price of counting its two ends.

        What lies between two seams has the same tokens with and without what is around it.
        """
        text = self._text
        first = SEAM.search(text, start, end)
        if first is None or end - start > LONGEST_EXACT:
            return self._tokenizer.count(text[start:end])
        last = first.start()
        for seam in SEAM.finditer(text, max(end - 64, last), end):
            last = seam.start()
        inside = self._starts.searchsorted([first.start(), last])
        return self._tokenizer.count(text[start : first.start()] + text[last:end]) + int(
            inside[1] - inside[0]
        )

    def _token_at(self, position: Position) -> int:
        """Number of the first token that covers the position, or of the last before it."""
        token = int(self._starts.searchsorted(position))
        if token == len(self._starts) or self._starts[token] > position:
            token -= 1
        return max(token, 0)

    def _skip_space(self, position: Position) -> Position:
        match = _NOT_SPACE.search(self._text, position)
        return match.start() if match else len(self._text)
