"""Documents that were read with a warning are counted by its code."""

from ingest.observability import metrics


def counted(code: str) -> float:
    return (
        metrics.REGISTRY.get_sample_value("rag_ingest_document_warnings_total", {"code": code})
        or 0.0
    )


def test_warnings_are_counted_and_unknown_codes_share_a_label() -> None:
    before = {code: counted(code) for code in ("main_content_unsure", "other")}

    metrics.document_read(("main_content_unsure", "made up by a broken parser"))

    assert {code: counted(code) - value for code, value in before.items()} == {
        "main_content_unsure": 1,
        "other": 1,
    }
    assert counted("made up by a broken parser") == 0


def test_skipped_steps_are_left_to_their_own_counter() -> None:
    before = counted("other")

    metrics.document_read(("headings_skipped",))

    assert counted("other") == before
