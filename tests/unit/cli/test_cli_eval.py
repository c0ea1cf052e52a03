"""`ingest eval` against a made-up service."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.cli.fake_search import FakeSearch, fake_search, hit, measures, run


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> FakeSearch:
    return fake_search(monkeypatch)


def test_answers_that_are_not_found_count_in_the_denominator(
    service: FakeSearch, files: Callable[..., list[str]]
) -> None:
    qrels, queries = files(qrels="q1 0 a 1\nq1 0 b 1\nq1 0 c 0\n", topics="q1\tone\nq2\ttwo\n")
    service.find = lambda body: [hit("x/a.md"), hit("x/c.md")]

    result = run(qrels, "--queries", queries, "--mode", "vector", "--json")

    assert result.exit_code == 0, result.output
    found = measures(result, "vector")
    assert found["recall@10"] == 0.5
    assert found["mrr"] == found["hit@1"] == 1
    assert found["ndcg@10"] == pytest.approx(1 / (1 + 0.63093), abs=1e-4)
    assert "1 queries have no judgement" in result.stderr
    assert service.bodies == [{"query": "one", "mode": "vector", "limit": 20, "perDocument": 1}]


def test_a_document_is_ranked_once_by_its_best_chunk(
    service: FakeSearch, files: Callable[..., list[str]]
) -> None:
    qrels, queries = files(qrels="1 0 b 1\n", topics="1\tone\n")
    service.find = lambda body: [hit("a.md", n=1), hit("a.md", n=2), hit("b.md", n=3)]

    result = run(qrels, "--queries", queries, "--mode", "keyword", "--json")

    assert measures(result, "keyword")["mrr"] == 0.5


def test_every_mode_and_variant_is_asked_and_compared(
    service: FakeSearch, files: Callable[..., list[str]]
) -> None:
    qrels, queries = files(qrels="1 0 a 1\n2 0 b 1\n", topics="1\tone\n2\ttwo\n")
    answers = {"one": "a", "two": "b"}
    service.find = lambda body: [hit(answers[body["query"]])] if "rerank" in body else []
    variant = 'better={"rerank": true}'

    as_text = run(qrels, "--queries", queries, "--variant", variant)
    as_json = run(qrels, "--queries", queries, "--variant", variant, "--json")

    assert measures(as_json, "hybrid")["ndcg@10"] == 0
    assert measures(as_json, "hybrid", "better")["ndcg@10"] == 1
    assert {body["mode"] for body in service.bodies} == {"vector", "keyword", "hybrid"}
    assert "hybrid better against hybrid alone (2 questions)" in as_text.output
    assert "+1.000 [+1.000, +1.000]" in as_text.output
    assert "2 better, 0 worse, 0 unchanged" in as_text.output


def test_a_loss_beyond_chance_against_an_earlier_run_fails_the_command(
    service: FakeSearch, files: Callable[..., list[str]], tmp_path: Path
) -> None:
    lines = [json.dumps({"query": f"q{n}", "target": f"d{n}"}) for n in range(8)]
    (thumbs,) = files(thumbs="\n".join(lines))
    before, after = str(tmp_path / "before.json"), str(tmp_path / "after.json")
    service.find = lambda body: [hit(f"d{body['query'][1:]}.txt")]
    first = run(thumbs, "--mode", "hybrid", "--save", before)
    same = run(thumbs, "--mode", "hybrid", "--compare", before)

    service.find = lambda body: []
    worse = run(thumbs, "--mode", "hybrid", "--compare", before, "--save", after)

    assert (first.exit_code, same.exit_code, worse.exit_code) == (0, 0, 1)
    assert "0 better, 8 worse, 0 unchanged" in worse.output
    assert "1.000   0.000  q3" in worse.output
    saved = json.loads(Path(after).read_text())
    assert saved["comparisons"][0]["differences"]["ndcg@10"]["high"] == -1


def test_results_of_other_runs_are_not_compared(
    service: FakeSearch, files: Callable[..., list[str]], tmp_path: Path
) -> None:
    thumbs, other = files(thumbs='{"query": "a", "target": "b"}', other="{}")
    before = str(tmp_path / "before.json")
    run(thumbs, "--mode", "vector", "--save", before)

    assert run(thumbs, "--mode", "hybrid", "--compare", before).exit_code == 2
    assert run(thumbs, "--compare", other).exit_code == 2


def test_pages_and_quotes_are_found_in_the_chunks_that_have_them(
    service: FakeSearch, files: Callable[..., list[str]]
) -> None:
    pages = {"query": "page", "target": {"document": "a.pdf", "page": 3}}
    quote = {"query": "quote", "target": {"quote": "every 400 hours"}}
    both = {"query": "both", "target": {"document": "b.pdf", "quote": "every 400 hours"}}
    (thumbs,) = files(thumbs="\n".join(map(json.dumps, (pages, quote, both))))
    service.find = lambda body: [
        hit("a.pdf", page=1, content="oil"),
        hit("a.pdf", page=2, pageEnd=3, content="It is changed *every* 400\nhours."),
    ]

    result = run(thumbs, "--mode", "hybrid", "--json")

    assert "perDocument" not in service.bodies[0]
    questions = json.loads(result.stdout)["runs"][0]["questions"]
    assert [one["measures"]["mrr"] for one in questions] == [0.5, 0.5, 0]


def test_a_text_collapsed_into_a_hit_is_found_with_it(
    service: FakeSearch, files: Callable[..., list[str]]
) -> None:
    (thumbs,) = files(thumbs='{"query": "a", "target": "copy.txt"}')
    copy = {"uri": "copy.txt", "documentId": "d", "knowledgeSourceId": "s", "chunkId": "c"}
    service.find = lambda body: [hit("original.txt", duplicates=[copy])]

    assert measures(run(thumbs, "--mode", "hybrid", "--json"), "hybrid")["mrr"] == 1


def test_degraded_answers_are_reported(
    service: FakeSearch, files: Callable[..., list[str]]
) -> None:
    (thumbs,) = files(thumbs='{"query": "a", "target": "b"}')
    service.answer = {"degraded": [], "reranked": False}

    result = run(thumbs, "--mode", "hybrid", "--json")

    assert "1 answers were degraded" in result.stderr
    assert json.loads(result.stdout)["runs"][0]["degraded"] == 1


def test_a_busy_service_is_asked_again_and_a_refusal_ends_the_command(
    service: FakeSearch, files: Callable[..., list[str]]
) -> None:
    (thumbs,) = files(thumbs='{"query": "a", "target": "b"}')
    service.statuses = [503, 429]
    busy = run(thumbs, "--mode", "hybrid")
    service.statuses = [422]
    refused = run(thumbs, "--mode", "hybrid", "--variant", 'wrong={"nonsense": 1}')

    assert (busy.exit_code, refused.exit_code) == (0, 2)


def test_the_corpus_is_uploaded_and_is_all_that_is_searched(
    service: FakeSearch, files: Callable[..., list[str]]
) -> None:
    corpus, queries, qrels = files(
        corpus=".I 1\n.T\na title\n.W\nwords\n.I 2\n.W\na/b\n",
        queries=".I 1\n.W\none\n",
        qrels="1 2 1",
    )
    service.find = lambda body: [hit("corpus in chunks of 64/2.txt")]

    result = run(
        qrels, "--queries", queries, "--corpus", corpus, "--chunk-size", "64", "--mode", "hybrid",
        "--json",
    )  # fmt: skip

    assert measures(result, "hybrid")["ndcg@10"] == 1, result.output
    folder = "corpus in chunks of 64"
    assert service.uploads.stored == {
        f"{folder}/1.txt": b"a title\n\nwords",
        f"{folder}/2.txt": b"a/b",
    }
    assert service.uploads.fields[0]["chunking"] == '{"size": 64}'
    assert service.bodies[0]["filter"] == {"metadata": {"corpus": folder}}
