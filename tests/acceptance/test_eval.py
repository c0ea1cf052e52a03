"""`ingest eval` against a real service, whose searches are reranked by a real server."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from harness.service import INGEST, KEY, Service, clean_environment
from tests.servers.rerank_server import rerank_server

Start = Callable[..., Service]

CORPUS = (
    ".I 1\n.T\nHerons\n.W\nA heron stands in the water and waits for fish.\n"
    ".I 2\n.T\nOwls\n.W\nAn owl flies by night without a sound and eats mice.\n"
    ".I 3\n.T\nGulls\n.W\nA gull follows the plough, the ship and the dustcart.\n"
)
QUERIES = ".I 1\n.W\nwhich bird waits for fish in the water\n.I 2\n.W\nwho eats mice at night\n"
OPTIONS = "eval qrels --queries queries --corpus corpus --mode hybrid --json"


def test_a_collection_is_loaded_and_measured_with_and_without_the_reranker(
    start: Start, tmp_path: Path
) -> None:
    for name, content in (
        ("corpus", CORPUS),
        ("queries", QUERIES),
        ("qrels", "1 0 1 1\n2 0 2 1\n"),
    ):
        (tmp_path / name).write_text(content)
    with rerank_server() as server:
        server.score = lambda text: float("gull" in text)
        service = start(
            "serve", INGEST_RERANK_URL=server.url, INGEST_RERANK_MODEL="m", INGEST_RERANK_KEY="k"
        )
        service.wait_until_ready()
        done = subprocess.run(
            [INGEST, *OPTIONS.split(), "--variant", 'plain={"rerank": false}'],
            env={**clean_environment(), "INGEST_URL": service.url, "INGEST_API_KEY": KEY},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )

    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    reranked, plain = result["runs"]
    assert plain["measures"]["ndcg@10"]["mean"] == 1
    # The server prefers gulls, whatever the question.
    assert reranked["measures"]["hit@1"]["mean"] == 0
    assert (reranked["degraded"], plain["degraded"]) == (0, 0)
    [comparison] = result["comparisons"]
    assert comparison["differences"]["hit@1"]["mean"] == 1
