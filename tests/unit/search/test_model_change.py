from uuid import UUID

from ingest.search.model_change import merge
from ingest.store.search.scope import Ranked

A, B, C, D = (UUID(int=number) for number in range(4))


def ranking(*scored: tuple[UUID, float]) -> list[Ranked]:
    return [Ranked(id=id, score=score) for id, score in scored]


def test_rankings_of_two_models_are_merged_by_rank_not_by_score() -> None:
    merged = merge([ranking((A, 0.3), (B, 0.2), (C, 0.1)), ranking((D, 0.95))], limit=10)

    assert merged == ranking((A, 0.3), (D, 0.3), (B, 0.2), (C, 0.1))


def test_a_chunk_in_both_has_its_best_rank_once() -> None:
    merged = merge([ranking((A, 0.9), (B, 0.8)), ranking((B, 0.4), (C, 0.3))], limit=2)

    assert merged == ranking((A, 0.9), (B, 0.9))


def test_nothing_found_by_any_model_is_nothing() -> None:
    assert merge([[], []], limit=10) == []
    assert merge([], limit=10) == []
