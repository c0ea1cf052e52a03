"""Whether spans leave the process is decided by the standard variables."""

import sys
from unittest.mock import Mock

import pytest

from ingest.errors import SetupError
from ingest.observability import tracing

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (ENDPOINT, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)


def test_without_an_endpoint_nothing_is_traced() -> None:
    with tracing.exported(), tracing.client_span("embed") as span:
        assert not span.is_recording()
        assert tracing.traceparent() is None


def test_tracing_without_the_extra_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(ENDPOINT, "http://collector:4318")
    monkeypatch.setitem(sys.modules, EXPORTER, None)

    with pytest.raises(SetupError, match=rf"^{ENDPOINT}: .*rag-ingest\[tracing\]"):
        tracing.exported().__enter__()


def test_with_an_endpoint_spans_are_sent_at_the_latest_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent = Mock()
    monkeypatch.setenv(ENDPOINT, "http://collector:4318")
    monkeypatch.setattr(f"{EXPORTER}.OTLPSpanExporter.export", sent)

    with tracing.exported(), tracing.client_span("embed") as span:
        assert span.is_recording()

    assert [span.name for span in sent.call_args.args[0]] == ["embed"]
    assert tracing.traceparent() is None
