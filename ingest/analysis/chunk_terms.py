"""The terms of chunks: what the keyword index has of their text, and of what they are about."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final
from uuid import UUID

import numpy as np

from ingest.analysis.known_terms import TextTerms, terms_of
from ingest.analysis.language import detect
from ingest.analysis.subject import Subject, title_and_path
from ingest.analysis.terms import SEPARATOR, Terms, salt
from ingest.model import Chunk, Document

_STORED: Final = np.dtype("<i4")
_GAP: Final = np.array([SEPARATOR], np.int32)
_READ: Final = 500
"""Characters of a path of headings that count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedTerms:
    """A chunk in the keyword index; the numbers are salted with the application."""

    words: Terms
    """Title and path, headings, text, each in order; then other spellings of all of them. With a
    separator between each."""
    grams: Terms


_NOTHING: Final = TextTerms(*[np.empty(0, np.int32)] * 3)


def with_terms(document: Document, chunks: Sequence[Chunk]) -> tuple[Document, list[Chunk]]:
    """Detect the document's language, and add to each chunk the terms of its text."""
    language = detect(document.text)
    found = []
    for chunk in chunks:
        field = terms_of(chunk.text, language)
        words = np.concatenate([field.in_order, _GAP, field.spellings])
        found.append(replace(chunk, words=_bytes(words), grams=_bytes(field.grams)))
    return replace(document, language=language), found


def has_terms(chunks: Sequence[Chunk]) -> bool:
    """Whether the parser process has made the terms of all chunks; else a tick makes them."""
    return all(chunk.words for chunk in chunks)


def indexed_terms(
    subject: Subject, chunks: Sequence[Chunk], *, application_id: UUID
) -> Iterator[IndexedTerms]:
    """The terms of each chunk as they are stored; without those of a text that has none yet."""
    bodies = ((_body(chunk), chunk.headings) for chunk in chunks)
    return _indexed(subject, bodies, application_id)


def terms_of_texts(
    subject: Subject, chunks: Iterable[tuple[str, tuple[str, ...]]], *, application_id: UUID
) -> Iterator[IndexedTerms]:
    """The same, of the text and headings of stored chunks."""
    bodies = ((terms_of(text, subject.language), headings) for text, headings in chunks)
    return _indexed(subject, bodies, application_id)


def _indexed(
    subject: Subject, chunks: Iterable[tuple[TextTerms, tuple[str, ...]]], application_id: UUID
) -> Iterator[IndexedTerms]:
    added = np.int32(salt(application_id))
    title = terms_of(title_and_path(subject), subject.language)
    for body, path in chunks:
        headings = _headings(path, subject)
        fields = (title, headings, body)
        words = [
            *(part for field in fields for part in (field.in_order, _GAP)),
            *(field.spellings for field in fields),
        ]
        grams = np.unique(np.concatenate([field.grams for field in fields]))
        yield IndexedTerms(words=np.concatenate(words) ^ added, grams=grams ^ added)


def _headings(headings: tuple[str, ...], subject: Subject) -> TextTerms:
    if headings and headings[0] == subject.title:
        headings = headings[1:]  # the title has these words already
    return _headings_field(headings, subject.language) if headings else _NOTHING


@lru_cache(1024)
def _headings_field(headings: tuple[str, ...], language: str | None) -> TextTerms:
    """Cached, because many chunks have the same headings."""
    return terms_of("\n".join(headings)[-_READ:], language)


def _body(chunk: Chunk) -> TextTerms:
    if not chunk.words:
        return _NOTHING
    words = np.frombuffer(chunk.words, _STORED)
    end = int(np.argmax(words == SEPARATOR))
    return TextTerms(words[:end], words[end + 1 :], np.frombuffer(chunk.grams, _STORED))


def _bytes(terms: Terms) -> bytes:
    return terms.astype(_STORED).tobytes()
