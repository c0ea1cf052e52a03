"""(a) 4,000 files in one request, on embedded parts, followed until every one is found."""

import csv
import io
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness.service import check_adds_up, services
from tests.acceptance.files import text_file

_COUNT = 4000
_AT_ONCE = 30  # files that a query, of at most 64 words, asks for
# Every hundredth file is bad, in turn: each kind ends with its own code and harms no other.
_BAD = {
    0: (b"\n", "empty_content"),
    1: (b"  \n\t \n", "empty_content"),
    2: (b"%PDF-1.7\n%truncated", "corrupt"),
    3: (b"\x00\x01\x02\x03\xff\xfe\xfd" * 40, "unsupported_type"),
}


def _file(number: int) -> tuple[str, bytes]:
    path, content = text_file(number)
    if number % 100:
        return path, content
    kind = number // 100 % len(_BAD)
    extension = {2: "pdf", 3: "bin"}.get(kind, "txt")
    return path.replace(".txt", f".{extension}"), _BAD[kind][0]


def test_four_thousand_files_in_one_request_are_searchable_or_report_errors(tmp_path: Path) -> None:
    with services(data=tmp_path, env={}) as start:
        service = start("serve").wait_until_ready()
        answer = service.upload(_file(number) for number in range(_COUNT))
        application = service.source(answer["knowledgeSourceIds"][0])["applicationId"]
        progress = service.wait_until_terminal(application)

        sources = list(service.pages("/api/knowledge-sources"))
        batch = service.get(f"/api/batches/{answer['batchId']}")
        report = service.http.get(f"/api/batches/{answer['batchId']}/report?format=csv").text
        good = [number for number in range(_COUNT) if number % 100]

        def found(numbers: list[int]) -> set[str]:
            query = " OR ".join(f'"Record {number}"' for number in numbers)
            return {hit["uri"] for hit in service.search(query, mode="keyword", limit=_AT_ONCE)}

        with ThreadPoolExecutor(4) as pool:
            parts = [good[start : start + _AT_ONCE] for start in range(0, len(good), _AT_ONCE)]
            uris = [{text_file(number)[0] for number in part} for part in parts]
            missing = [
                expected - hits
                for expected, hits in zip(uris, pool.map(found, parts), strict=True)
                if expected != hits
            ]

    assert answer["jobCount"] == _COUNT
    assert len(set(answer["knowledgeSourceIds"])) == _COUNT
    check_adds_up(progress)
    assert (progress["total"], progress["completed"], progress["failed"]) == (4000, 3960, 40)
    assert Counter(source["status"] for source in sources) == {"completed": 3960, "failed": 40}
    codes = Counter(source["errorCode"] for source in sources if source["status"] == "failed")
    assert codes == {"empty_content": 20, "corrupt": 10, "unsupported_type": 10}
    assert all(source["chunkCount"] for source in sources if source["status"] == "completed")
    assert batch["total"] == _COUNT
    assert len(list(csv.DictReader(io.StringIO(report)))) == _COUNT
    assert missing == []
