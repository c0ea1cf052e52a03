"""Each kind of bad file ends with its own code; each odd but good one is found."""

from pathlib import Path

from harness.service import services
from tests.builders import make_files
from tests.builders.make_archives import locked_zip, zip_of

_BAD = {
    "space.txt": (b" ", "empty_content"),
    "blank.md": (b" \n\t\n \n", "empty_content"),
    "truncated.pdf": (make_files.pdf(["A page with text"])[:120], "corrupt"),
    "not-really.pdf": (b"plain words, no PDF at all \x00\x01\x02\xff" * 9, "corrupt"),
    "locked.pdf": (make_files.pdf(["secret"], user_password="x"), "encrypted"),
    "locked.docx": (make_files.encrypted_office(), "encrypted"),
    "scan.pdf": (make_files.scanned_pdf(), "no_text"),
    "long.pdf": (make_files.pdf([f"page {n}" for n in range(12)]), "too_many_pages"),
    "broken.png": (make_files.png(), "corrupt"),
    "locked.zip": (locked_zip("a.txt"), "encrypted"),
    "climbing.zip": (zip_of({"../a.txt": b"out"}), "archive_unsafe"),
    "film.mp4": (b"\0\0\0\x20ftypisom" + bytes(200), "unsupported_type"),
    "noise.bin": (bytes(range(256)) * 40, "unsupported_type"),
}

_ODD = {
    "owner-only.pdf": (make_files.pdf(["Owners may print"], owner_password="x"), "Owners"),
    "wrong-name.txt": (make_files.pdf(["A disguised document"]), "disguised"),
    "utf16.txt": ("Sixteen bits of zebra".encode("utf-16"), "zebra"),
    "gbk.txt": ("编号和名称的测试文本在这里".encode("gbk") * 8, "测试文本"),
    "sjis.txt": ("日本語の文章を検索します。カタカナも。".encode("shift_jis") * 8, "日本語"),
    "cp1252.txt": ("Café Zürich façade “quoted” naïve".encode("cp1252") * 4, "façade"),
    "nul.txt": (b"before\x00after the nul comes wombat", "wombat"),
    "special.txt": (b"a text with <|endoftext|> inside, says the platypus", "platypus"),
    "long-line.txt": (b"x" * 300_000 + b" quokka", "quokka"),
    "page.html": (make_files.html("<p>" + "The numbat eats termites. " * 9 + "</p>"), "numbat"),
    "letter.docx": (make_files.docx(["Dear bandicoot, many words follow."]), "bandicoot"),
}


def test_every_file_of_a_mixed_upload_reports_its_outcome(tmp_path: Path) -> None:
    env = {"INGEST_MAX_PAGES": "10"}
    with services(data=tmp_path, env=env) as start:
        service = start("serve").wait_until_ready()
        # Made here: each process that collects tests would make it.
        bad = {**_BAD, "bomb.docx": (make_files.docx_bomb(400 * 1024**2), "archive_unsafe")}
        files = {name: content for name, (content, _) in {**bad, **_ODD}.items()}
        answer = service.upload(files.items())
        application = service.source(answer["knowledgeSourceIds"][0])["applicationId"]
        progress = service.wait_until_terminal(application)
        sources = {source["uri"]: source for source in service.pages("/api/knowledge-sources")}
        documents = {
            name: service.get(f"/api/knowledge-sources/{sources[name]['id']}/documents")["items"]
            for name in _ODD
        }
        found = {
            name: [hit["uri"] for hit in service.search(word, mode="keyword")]
            for name, (_, word) in _ODD.items()
        }

    outcomes = {name: sources[name]["errorCode"] for name in bad}
    assert outcomes == {name: code for name, (_, code) in bad.items()}
    assert {sources[name]["status"] for name in bad} == {"failed"}
    assert all(sources[name]["errorMessage"] for name in bad)
    assert {name: sources[name]["status"] for name in _ODD} == dict.fromkeys(_ODD, "completed")
    assert (progress["failed"], progress["completed"]) == (len(bad), len(_ODD))
    assert {name: name in hits for name, hits in found.items()} == dict.fromkeys(_ODD, True)
    encodings = {
        name: documents[name][0]["encoding"]["name"]
        for name in ("utf16.txt", "gbk.txt", "sjis.txt", "cp1252.txt")
    }
    assert encodings == {
        "utf16.txt": "utf-16-le",
        "gbk.txt": "gb18030",
        "sjis.txt": "cp932",
        "cp1252.txt": "cp1252",
    }
