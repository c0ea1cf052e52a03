"""Which reviews a document raises."""

from typing import Any

import pytest

from ingest.handlers.context import Review
from ingest.handlers.documents.review_rules import applicable_reviews
from ingest.model import Coverage, Document


def of(*, pages: int = 1, with_text: int = 1, warnings: tuple[str, ...] = ()) -> list[Review]:
    document = Document(
        text="x",
        media_type="application/pdf",
        extractor="x 1",
        coverage=Coverage(pages=pages, with_text=with_text, empty=pages - with_text),
        warnings=warnings,
    )
    return list(applicable_reviews(document))


def raised(**facts: Any) -> list[str]:
    return [review.reason for review in of(**facts)]


@pytest.mark.parametrize(
    ("pages", "with_text", "reasons"),
    [
        (10, 4, ["low_coverage"]),
        (10, 5, []),
        (2, 0, ["low_coverage"]),
        (2, 1, []),
        (1, 0, []),
        (0, 0, []),
    ],
)
def test_low_coverage_raises_a_review(pages: int, with_text: int, reasons: list[str]) -> None:
    assert raised(pages=pages, with_text=with_text) == reasons


def test_hidden_text_review_takes_precedence() -> None:
    assert raised(warnings=("hidden_text",)) == ["flagged_content"]
    assert raised(warnings=("type_mismatch",)) == []
    assert raised(pages=9, with_text=1, warnings=("hidden_text",)) == [
        "flagged_content",
        "low_coverage",
    ]


@pytest.mark.parametrize("warning", ["folded_text", "script_text"])
def test_text_that_readers_may_never_see_asks_for_a_review(warning: str) -> None:
    [review] = of(warnings=(warning,))

    assert review.reason == "flagged_content"
    assert "would be searchable" in review.message


def test_hidden_text_review_says_that_it_is_not_indexed() -> None:
    [review] = of(warnings=("hidden_text",))

    assert "not searchable" in review.message
