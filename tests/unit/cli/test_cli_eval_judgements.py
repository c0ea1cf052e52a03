"""`ingest eval`: the judgements it takes, and those it refuses."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.cli.main import app
from tests.unit.cli.fake_search import FakeSearch, fake_search, hit, measures, run


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> FakeSearch:
    return fake_search(monkeypatch)


def test_a_later_thumb_on_the_same_passage_replaces_the_earlier_one(
    service: FakeSearch, files: Callable[..., list[str]]
) -> None:
    up = {"query": "a", "target": "x.txt", "gain": 1}
    down = {"query": "a", "target": "x.txt", "gain": 0}
    other = {"query": "a", "target": "y.txt"}
    (thumbs,) = files(thumbs="\n".join(map(json.dumps, (up, other, down))))
    service.find = lambda body: [hit("x.txt")]

    result = run(thumbs, "--mode", "hybrid", "--json")

    assert measures(result, "hybrid")["mrr"] == 0
    assert len(service.bodies) == 1


@pytest.mark.parametrize(
    "line", ["[]", "{", '{"query": " ", "target": "x"}', '{"query": "a"}', '{"query": "a", '
    '"target": {"chunk": 1}}', '{"query": "a", "target": {"page": 1}}'],
)  # fmt: skip
def test_a_wrong_line_is_named(
    service: FakeSearch, files: Callable[..., list[str]], line: str
) -> None:
    (thumbs,) = files(thumbs='{"query": "a", "target": "b"}\n' + line)

    result = run(thumbs)

    assert result.exit_code == 2
    assert "line 2" in result.stderr


def test_judgements_without_queries_say_what_is_missing(
    service: FakeSearch, files: Callable[..., list[str]]
) -> None:
    (qrels,) = files(qrels="1 0 a 1\n")

    assert "add --queries FILE" in run(qrels).stderr
    assert run("/nowhere").exit_code == 2


def test_judgements_that_the_service_stores_are_asked(service: FakeSearch) -> None:
    common = {"query": "oil", "filter": None, "uri": "pump.md"}
    service.judgements = [
        {**common, "quote": "every 400 hours", "grade": 1},
        {**common, "quote": "never", "grade": 0},
        {**common, "quote": "no filter", "grade": 1, "filter": {"where": {"uri": "x"}}},
    ]
    service.find = lambda body: [hit("pump.md", content="Change it every 400 hours.")]

    result = CliRunner().invoke(app, ["eval", "--judgements", "mine", "--mode", "hybrid", "--json"])

    assert result.exit_code == 0, result.output
    [run] = json.loads(result.stdout)["runs"]
    assert service.sets == ["mine"]
    assert [one["measures"]["mrr"] for one in run["questions"]] == [1, 0]
    assert [body.get("filter") for body in service.bodies] == [None, {"where": {"uri": "x"}}]


def test_judgements_come_from_one_place(service: FakeSearch, tmp_path: Path) -> None:
    file = tmp_path / "thumbs.jsonl"
    file.write_text('{"query": "oil", "target": "pump.md"}')
    for arguments in ([], [str(file), "--judgements", "mine"]):
        assert CliRunner().invoke(app, ["eval", *arguments]).exit_code != 0
    nothing = CliRunner().invoke(app, ["eval", "--judgements", "mine"])
    assert "no judgements" in nothing.output
    assert service.bodies == []
