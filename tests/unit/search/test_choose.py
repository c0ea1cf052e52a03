"""From candidates to hits: loaded in parts, collapsed, limited per document, diverse."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from ingest.search.choose import Choice, Choices, as_hit, distinct, diverse, first_of_documents
from ingest.search.matched_text import MatchedText
from ingest.search.near_duplicates import ComparedText
from ingest.search.scores import Candidate, MinScore
from ingest.store.search.hits import StoredChunk

NOW = datetime(2026, 1, 1, tzinfo=UTC)
QUERY = MatchedText("heron")


def chunk(content: str, **more: Any) -> StoredChunk:
    fields: dict[str, Any] = {
        "chunk_id": uuid4(),
        "knowledge_source_id": uuid4(),
        "document_id": uuid4(),
        "title": "A title",
        "uri": "a.txt",
        "media_type": "text/plain",
        "metadata": {},
        "document_metadata": {},
        "published_at": None,
        "created_at": NOW,
        "updated_at": NOW,
        "ordinal": 0,
        "page": None,
        "page_end": None,
        "char_start": 0,
        "char_end": len(content),
        "headings": [],
        "next_sections": [],
        "content": content,
    }
    return StoredChunk(**{**fields, **more})


class Store:
    def __init__(self, *chunks: StoredChunk) -> None:
        self.chunks = {one.chunk_id: one for one in chunks}
        self.loads: list[int] = []
        self.candidates = [
            Candidate(id=one.chunk_id, score=1 - place / 1000) for place, one in enumerate(chunks)
        ]

    async def load(self, ids: Sequence[UUID]) -> list[StoredChunk]:
        self.loads.append(len(ids))
        return [self.chunks[id] for id in ids if id in self.chunks]

    async def distinct(self, wanted: int, **options: Any) -> Choices:
        given = {"collapse": True, "per_document": None, **options}
        return await distinct(self.candidates, self.load, QUERY, wanted=wanted, **given)


def contents(choices: Sequence[Choice]) -> list[str]:
    return [choice.chunk.content for choice in choices]


async def test_no_more_is_loaded_than_needed() -> None:
    store = Store(*(chunk(f"text {n}") for n in range(100)))

    choices = await store.distinct(10)

    assert contents(choices.kept) == [f"text {n}" for n in range(10)]
    assert store.loads == [12]


async def test_equal_texts_become_one_hit_that_names_the_others() -> None:
    copies = [chunk("the same") for _ in range(120)]
    store = Store(*copies, chunk("another"))

    choices = await store.distinct(2)

    assert contents(choices.kept) == ["the same", "another"]
    hit = as_hit(choices.kept[0], QUERY)
    assert hit.chunk_id == copies[0].chunk_id
    assert hit.duplicate_count == 119
    assert [one.chunk_id for one in hit.duplicates] == [one.chunk_id for one in copies[1:101]]


async def test_collapsing_can_be_switched_off() -> None:
    store = Store(chunk("the same"), chunk("the same"))

    assert len((await store.distinct(5, collapse=False)).kept) == 2


async def test_no_document_has_more_hits_than_allowed() -> None:
    document = uuid4()
    store = Store(*(chunk(f"of one {n}", document_id=document) for n in range(9)), chunk("other"))

    choices = await store.distinct(3, per_document=2)

    assert contents(choices.kept) == ["of one 0", "of one 1", "other"]
    everything = (await store.distinct(10)).kept
    assert contents(first_of_documents(everything, 1)) == ["of one 0", "other"]


async def test_deleted_candidates_are_reported() -> None:
    store = Store(chunk("here"), chunk("gone"))
    del store.chunks[store.candidates[1].id]

    choices = await store.distinct(5)

    assert choices.lacks_deleted
    assert contents(choices.kept) == ["here"]


async def test_diverse_hits_differ_from_those_before() -> None:
    texts = ["heron a b c d", "heron a b c e", "heron a b c f", "owl x y z"]
    kept = (await Store(*map(chunk, texts)).distinct(4)).kept

    assert contents(diverse(kept, diversity=0, limit=3)) == texts[:3]
    assert contents(diverse(kept, diversity=1, limit=2)) == ["heron a b c d", "owl x y z"]
    assert len(diverse(kept, diversity=0.5, limit=9)) == 4
    assert diverse([], diversity=0.5, limit=3) == []


def test_a_hit_names_the_section_of_its_match() -> None:
    text = "| head |\n# One\nowls\n## Two\nherons\n\n# Three\nfish"
    start = text.index("# One")
    found = chunk(
        text,
        # The table header is repeated: it is not a part of this place in the document.
        char_start=100,
        char_end=100 + len(text) - start,
        headings=["One"],
        next_sections=[
            (100 + text.index("## Two") - start, 1, "Two"),
            (100 + text.index("# Three") - start, 0, "Three"),
        ],
    )

    hit = as_hit(_choice(found), QUERY)

    assert hit.sections == [["One"], ["One", "Two"], ["Three"]]
    assert hit.section == ["One", "Two"]
    assert hit.headings == ["One"]
    assert as_hit(_choice(chunk("x", headings=["A"], next_sections=None)), QUERY).section == ["A"]


def test_a_score_that_is_missing_is_below_any() -> None:
    least = MinScore(cosine=0.4)

    assert least.passes(Candidate(id=uuid4(), score=1, cosine=0.4))
    assert not least.passes(Candidate(id=uuid4(), score=1, cosine=0.39))
    assert not least.passes(Candidate(id=uuid4(), score=1, bm25=9))
    assert MinScore().passes(Candidate(id=uuid4(), score=1))


@pytest.mark.parametrize("score", [0.0, -5.0])
def test_equal_and_negative_scores_can_be_diverse(score: float) -> None:
    choices = [_choice(chunk("one"), score), _choice(chunk("two"), score)]

    assert contents(diverse(choices, diversity=0.5, limit=2)) == ["one", "two"]


def _choice(found: StoredChunk, score: float = 1.0) -> Choice:
    candidate = Candidate(id=found.chunk_id, score=score)
    return Choice(candidate=candidate, chunk=found, text=ComparedText(found.content, QUERY))
