"""Files of many kinds, and files inside of files, through the whole service."""

from collections.abc import Iterator
from typing import Any

import pytest

from harness.service import Service, services, until
from tests.builders import make_files
from tests.builders.make_archives import zip_of
from tests.builders.make_mail import eml, multipart
from tests.builders.make_office import paragraph, presentation, shape, word
from tests.builders.make_sheets import Cell, xlsx

_MANUAL = "\n\n".join(
    f"## Chapter {n}\n\n" + f"The wombat of chapter {n} digs a long burrow. " * 12 for n in range(4)
)
_ROWS: list[list[Cell]] = [[f"part {n}", "blue", n] for n in range(3)]
_STOCK: list[list[Cell]] = [["Item", "Colour", "Count"], *_ROWS]
_LETTER = multipart(
    "mixed",
    b"Content-Type: text/plain\r\n\r\nThe quokka sends its regards.",
    b"Content-Type: application/pdf; name=plan.pdf\r\n"
    b"Content-Disposition: attachment; filename=plan.pdf\r\n\r\n"
    + make_files.pdf(["The plan of the numbat"]),
    subject="Regards",
)
_FIRST = {
    "manual.md": _MANUAL.encode(),
    "data/stock.xlsx": xlsx({"Stock": _STOCK}),
    "inner.zip": zip_of({"deep/note.txt": b"A bilby lives in the innermost archive."}),
    "broken.pdf": b"%PDF-1.7 and nothing more",
    "gone.txt": b"This platypus will leave.",
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data = tmp_path_factory.mktemp("formats")
    with services(data=data, env={"INGEST_EMBEDDER": "static", "INGEST_OCR": "off"}) as start:
        yield start("serve").wait_until_ready()


def upload(service: Service, path: str, data: bytes) -> str:
    """The id of the source, when all is done."""
    [id] = service.upload([(path, data)])["knowledgeSourceIds"]
    service.wait_until_terminal(id)
    return str(id)


def documents(service: Service, id: str) -> dict[str, Any]:
    return {item["uri"]: item for item in service.pages(f"/api/knowledge-sources/{id}/documents")}


def hits(service: Service, query: str) -> list[str]:
    return [hit["uri"] for hit in service.search(query, mode="keyword")]


def test_archive_members_become_documents_or_report_errors(service: Service) -> None:
    id = upload(service, "box.zip", zip_of(_FIRST))

    source = service.source(id)
    assert (source["status"], source["errorCode"]) == ("partial", "corrupt")
    assert sorted(documents(service, id)) == [
        "box.zip/data/stock.xlsx",
        "box.zip/gone.txt",
        "box.zip/inner.zip/deep/note.txt",
        "box.zip/manual.md",
    ]
    assert hits(service, "bilby") == ["box.zip/inner.zip/deep/note.txt"]
    [failed] = service.get("/api/jobs", knowledgeSourceId=id, status="failed")["items"]
    assert failed["lastErrorCode"] == "corrupt"


def test_new_archive_version_replaces_the_old(service: Service) -> None:
    upload(service, "second.zip", zip_of(_FIRST))
    kept = {name: data for name, data in _FIRST.items() if name not in ("gone.txt", "broken.pdf")}

    id = upload(service, "second.zip", zip_of({**kept, "new.txt": b"An echidna moves in."}))

    assert service.source(id)["status"] == "completed"
    assert "second.zip/gone.txt" not in hits(service, "platypus")
    assert hits(service, "echidna") == ["second.zip/new.txt"]
    assert service.source(id)["chunkCount"] == sum(
        document["chunkCount"] for document in documents(service, id).values()
    )


def test_a_message_and_its_attachment_are_both_found(service: Service) -> None:
    id = upload(service, "mail/regards.eml", _LETTER)

    assert service.source(id)["status"] == "completed"
    assert hits(service, "quokka") == ["mail/regards.eml"]
    assert hits(service, "numbat") == ["mail/regards.eml/plan.pdf"]
    assert documents(service, id)["mail/regards.eml"]["title"] == "Regards"


@pytest.mark.parametrize(
    ("name", "data", "word"),
    [
        ("deck.pptx", presentation(shape("Slides about the cassowary")), "cassowary"),
        ("letter.docx", word(paragraph("A letter to the kookaburra")), "kookaburra"),
        ("mail.eml", eml("All about the thylacine"), "thylacine"),
        ("people.csv", b"Name;Animal\nAda;Dunnart\nBob;Potoroo\n", "Potoroo"),
        ("tree.json", b'[{"animal": "goanna", "legs": 4}]', "goanna"),
        ("tree.xml", b"<?xml version='1.0'?><zoo><animal>lorikeet</animal></zoo>", "lorikeet"),
    ],
)
def test_a_file_of_each_family_is_found(
    service: Service, name: str, data: bytes, word: str
) -> None:
    id = upload(service, name, data)

    assert service.source(id)["status"] == "completed"
    assert hits(service, word) == [name]


def test_table_row_chunk_includes_its_header(service: Service) -> None:
    upload(service, "stock.xlsx", xlsx({"Stock": _STOCK}))

    found = service.search("part 2", mode="keyword", collapse=False)
    [hit, *_] = [hit for hit in found if hit["uri"] == "stock.xlsx"]

    assert "Item: part 2; Colour: blue; Count: 2" in hit["content"]


def test_changed_chunk_settings_rechunk_the_stored_text(service: Service) -> None:
    id = upload(service, "manual.md", _MANUAL.encode())
    before = service.source(id)

    answer = service.http.patch(
        f"/api/knowledge-sources/{id}", json={"chunking": {"size": 64, "overlap": 0}}
    )
    answer.raise_for_status()
    until(lambda: service.source(id)["chunkCount"] > before["chunkCount"])

    after = service.source(id)
    types = [job["type"] for job in service.pages("/api/jobs", knowledgeSourceId=id)]
    assert sorted(types) == ["file", "rechunk"]
    assert after["status"] == "completed"
    assert all(chunk["tokenCount"] <= 64 for chunk in _chunks(service, id))


def _chunks(service: Service, id: str) -> list[Any]:
    return list(service.pages(f"/api/knowledge-sources/{id}/chunks"))


def test_a_preview_stores_nothing(service: Service) -> None:
    # Only which there are: those of earlier tests may still be chunked again.
    before = [source["id"] for source in service.get("/api/knowledge-sources")["items"]]

    answer = service.http.post("/api/preview", files={"file": ("manual.md", _MANUAL.encode())})

    assert answer.status_code == 200, answer.text
    assert "The wombat of chapter 3" in answer.json()["text"]
    assert answer.json()["chunkCount"] == len(answer.json()["chunks"]) >= 2
    assert [item["id"] for item in service.get("/api/knowledge-sources")["items"]] == before


def test_the_section_around_a_hit_can_be_read(service: Service) -> None:
    upload(service, "sections.md", _MANUAL.encode())
    [hit, *_] = [
        hit
        for hit in service.search("wombat chapter 2", mode="keyword", collapse=False)
        if hit["uri"] == "sections.md"
    ]

    section = service.get(f"/api/chunks/{hit['chunkId']}/section")

    assert section["content"].startswith("## Chapter")
    assert hit["content"] in section["content"]
