"""Makes chunks of texts, and checks invariants of all chunks."""

from ingest.chunking.chunk import chunk
from ingest.chunking.structure_reader import read_structure
from ingest.model import Chunk, ChunkBy, Document, Page
from ingest.tokens.tokenizers import Spans, Tokenizer, load_tokenizer

CL100K = load_tokenizer("cl100k_base")
SENTENCE = "The parser reads the file and gives its text to the chunker. "


def document(text: str, pages: tuple[Page, ...] = ()) -> Document:
    return Document(text=text, media_type="text/markdown", extractor="test", pages=pages)


def cut(
    text: str,
    *,
    size: int = 64,
    overlap: int = 0,
    tokenizer: Tokenizer = CL100K,
    by: ChunkBy = "heading",
) -> list[str]:
    pieces = chunk(document(text), tokenizer=tokenizer, size=size, overlap=overlap, by=by)
    return [piece.text for piece in pieces]


def chunks_of(text: str, *, size: int) -> list[Chunk]:
    return chunk(document(text), tokenizer=CL100K, size=size, overlap=0)


def assert_sound(text: str, chunks: list[Chunk], *, tokenizer: Tokenizer, size: int) -> None:
    """Check that chunks cover the text, are exact and small enough, and repeat only whole lines."""
    covered = 0
    for ordinal, piece in enumerate(chunks):
        header = text[slice(*piece.repeated_header)] if piece.repeated_header else ""
        assert piece.ordinal == ordinal
        assert piece.text == header + text[piece.start : piece.end]
        assert piece.repeated_header is None or (
            header.endswith("\n") and piece.repeated_header[1] <= piece.start
        )
        assert text[piece.start : piece.end].strip() == text[piece.start : piece.end] != ""
        assert piece.token_count == tokenizer.count(piece.text)
        assert piece.token_count + tokenizer.special_tokens <= size
        assert piece.section
        assert piece.section[0] <= piece.start < piece.end <= piece.section[1]
        assert not text[covered : piece.start].strip()
        assert piece.end > covered
        covered = piece.end
    assert not text[covered:].strip()


def rows_cut(text: str, chunks: list[Chunk], *, tokenizer: Tokenizer, size: int) -> list[str]:
    """Rows that would fit into a chunk, but are split or contain the start of a chunk."""
    structure = read_structure(text)
    ends = sorted({*structure.rows[1:], *(block.end for block in structure.blocks)})
    found = []
    for row in structure.rows:
        end = next(end for end in ends if end > row)
        start = row + len(text[row:end]) - len(text[row:end].lstrip())
        end = start + len(text[start:end].rstrip())
        fits = tokenizer.count(text[start:end]) + tokenizer.special_tokens <= size
        if fits and end - start <= 8 * size:
            whole = any(piece.start <= start and end <= piece.end for piece in chunks)
            if not whole or any(start < piece.start < end for piece in chunks):
                found.append(text[start:end])
    return found


class CountingTokenizer:
    """Counts the characters that it reads."""

    def __init__(self, inner: Tokenizer) -> None:
        self.name, self.special_tokens = inner.name, inner.special_tokens
        self._inner = inner
        self.characters = 0

    def count(self, text: str) -> int:
        self.characters += len(text)
        return self._inner.count(text)

    def spans(self, text: str) -> Spans:
        self.characters += len(text)
        return self._inner.spans(text)
