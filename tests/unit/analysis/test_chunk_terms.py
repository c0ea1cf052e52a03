"""The terms of a chunk: its fields in order, then other spellings, with separators."""

from uuid import UUID

import numpy as np
import pytest

from ingest.analysis.chunk_terms import (
    IndexedTerms,
    has_terms,
    indexed_terms,
    terms_of_texts,
    with_terms,
)
from ingest.analysis.subject import Subject
from ingest.analysis.terms import SEPARATOR, Terms, forms, grams, numbers, salt
from ingest.model import Chunk, Document

APPLICATION = UUID("12345678-0000-0000-0000-000000000001")
TEXT = "Die Prüfung der Pumpe ist jedes Jahr im Mai fällig, sagt das Handbuch."
ABOUT = Subject(title="Handbuch", uri="x.md", language="de")


def chunk(text: str, *headings: str) -> Chunk:
    return Chunk(
        ordinal=0, text=text, token_count=1, start=0, end=len(text), headings=headings,
        section=(0, len(text)),
    )  # fmt: skip


def fields(found: IndexedTerms) -> list[list[int]]:
    """Title, headings, body, other spellings; without the salt."""
    words = found.words ^ np.int32(salt(APPLICATION))
    parts = np.split(words, np.flatnonzero(words == SEPARATOR))
    return [list(part[part != SEPARATOR]) for part in parts]


def of(words: str, language: str | None = "de") -> list[int]:
    return list(numbers(forms(words.split(), language)))


def stored(chunks: list[Chunk]) -> list[IndexedTerms]:
    document = Document(text=TEXT, media_type="text/plain", extractor="text", title="Handbuch")
    document, made = with_terms(document, chunks)
    assert document.language == "de"
    assert has_terms(made)
    return list(indexed_terms(ABOUT, made, application_id=APPLICATION))


def test_fields_are_in_order() -> None:
    [found] = stored([chunk(TEXT, "Handbuch", "Wartung")])

    title, headings, body, spellings = fields(found)
    assert title == of("handbuch x md")
    assert headings == of("wartung")  # the title is not repeated
    assert body[:4] == of("die prüfung der pumpe")
    assert len(body) == len(TEXT.split())
    assert spellings == [*of("xmd"), *of("pruefung faellig")]


def test_a_first_heading_that_is_not_the_title_counts() -> None:
    [found] = stored([chunk(TEXT, "Wartung", "Handbuch")])

    assert fields(found)[1] == of("wartung handbuch")


def test_a_chunk_without_headings_has_an_empty_field() -> None:
    [found] = stored([chunk(TEXT)])

    assert fields(found)[1] == []
    assert len(fields(found)) == 4


def test_grams_are_of_all_fields_sorted_and_once() -> None:
    [found] = stored([chunk("Pumpe der Pumpen", "Wartung")])

    plain = np.sort(found.grams ^ np.int32(salt(APPLICATION)))
    wanted = grams(["pumpe", "pumpen", "wartung", "handbuch"], "de")
    assert list(plain) == sorted(numbers(wanted))


def test_terms_of_stored_texts_are_those_of_the_parser() -> None:
    [parsed] = stored([chunk(TEXT, "Wartung")])
    [again] = terms_of_texts(ABOUT, [(TEXT, ("Wartung",))], application_id=APPLICATION)

    assert list(parsed.words) == list(again.words)
    assert list(parsed.grams) == list(again.grams)


def test_a_chunk_whose_terms_are_missing_has_those_of_its_context() -> None:
    plain = chunk(TEXT, "Wartung")

    [found] = indexed_terms(ABOUT, [plain], application_id=APPLICATION)

    assert not has_terms([plain])
    assert fields(found)[1:3] == [of("wartung"), []]


def test_numbers_differ_by_application() -> None:
    other: list[Terms] = [
        next(terms_of_texts(ABOUT, [(TEXT, ())], application_id=UUID(int=number))).words
        for number in (1, 2)
    ]

    assert not set(other[0]) & set(other[1])


@pytest.mark.parametrize("length", [600, 5000])
def test_of_a_long_path_of_headings_the_inner_ones_count(length: int) -> None:
    [found] = stored([chunk(TEXT, "outermost " + "x " * length, "innermost")])

    headings = fields(found)[1]
    assert of("innermost")[0] in headings
    assert of("outermost")[0] not in headings
    assert len(headings) < 260
