"""Each chunk of a hybrid search is scored by both halves, whichever found it."""

from uuid import UUID

from ingest.search.scores import Half, joined
from ingest.store.search.scope import Ranked

BOTH, NEAR, UNLIKE, WORDED, WITHOUT_VECTOR = (UUID(int=n) for n in range(5))
"""Found by both; by meaning, with and without a word of the question; by words, with and without a
vector."""

BY_VECTORS = Half(
    [Ranked(id=NEAR, score=0.9), Ranked(id=BOTH, score=0.8), Ranked(id=UNLIKE, score=0.7)],
    [(UNLIKE, 0.0), (BOTH, 4.5), (NEAR, 2.0)],
)
BY_TERMS = Half(
    [Ranked(id=WORDED, score=6), Ranked(id=BOTH, score=4), Ranked(id=WITHOUT_VECTOR, score=3)],
    [(BOTH, 0.85), (WORDED, 0.1)],
)


def test_each_chunk_has_both_scores_and_its_places() -> None:
    found = joined(BY_VECTORS, BY_TERMS, needs_words=False)

    assert {one.id: (one.cosine, one.bm25, one.vector_rank, one.keyword_rank) for one in found} == {
        # The scores by which the halves rank it, though the other half knows them too.
        BOTH: (0.8, 4, 2, 2),
        NEAR: (0.9, 2.0, 1, None),
        UNLIKE: (0.7, None, 3, None),
        WORDED: (0.1, 6, None, 1),
        WITHOUT_VECTOR: (None, 3, None, 3),
    }


def test_what_does_not_meet_the_conditions_of_the_words_is_left_out() -> None:
    """They are met by what is scored by words, even without a word of the question."""
    by_vectors = BY_VECTORS._replace(other_scores=[(UNLIKE, 0.0)])

    found = joined(by_vectors, BY_TERMS, needs_words=True)

    assert {one.id for one in found} == {BOTH, UNLIKE, WORDED, WITHOUT_VECTOR}
