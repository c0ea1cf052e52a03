"""The built wheel, installed as a stranger would: by plain pip, without the lock, in a bare venv.

Usage: python tests/wheel.py [--pip VERSION] [--python PROGRAM]

It then starts `ingest serve` as it is, uploads one file of each family, and fails unless every file
is completed and found by its word, and the dashboard is served with all its page loads. `--pip`
installs another pip first: old ones drop extras of dependencies that newer ones know.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from harness.service import free_port
from tests.builders import make_files, make_mail, make_office, make_sheets

_HERE = Path(__file__).parent.parent
_KEY = "rk_operator_key_of_the_wheel_check"
_PATIENCE_SECONDS = 300.0
_RTF = rb"{\rtf1\ansi{\fonttbl{\f0 Arial;}}Words and %b\par}"


def files() -> dict[str, bytes]:
    """One file of each family; each holds a word of its own, `zylo` and its ending."""

    def markup(ending: str) -> str:
        return f"<h1>Heading</h1><p>Some words and zylo{ending} in a paragraph.</p>"

    return {
        "a.txt": b"Words and zylotxt.",
        "a.md": b"# Heading\n\nWords and zylomd.",
        "a.py": b"def zylopy():\n    return 1\n",
        "a.html": make_files.html(markup("html")),
        "a.csv": b"Name,Age\nzylocsv,36\n",
        "a.json": b'[{"name": "zylojson"}]',
        "a.ipynb": b'{"cells": [{"cell_type": "markdown", "source": ["zyloipynb"]}],'
        b' "metadata": {}, "nbformat": 4}',
        "a.xml": b"<towns><town><name>zyloxml</name></town></towns>",
        "a.pdf": make_files.pdf(["Words and zylopdf."]),
        "a.docx": make_office.word(make_office.paragraph("Words and zylodocx.")),
        "a.pptx": make_office.presentation(make_office.shape("Words and zylopptx.")),
        "a.odt": make_office.open_document("<text:p>Words and zyloodt.</text:p>"),
        "a.doc": make_office.doc("Words and zylodoc, a few of them\r"),
        "a.rtf": _RTF % b"zylortf",
        "a.xlsx": make_sheets.xlsx({"One": [["Name", "Age"], ["zyloxlsx", 36]]}),
        "a.eml": make_mail.eml(b"Words and zyloeml."),
        "a.mbox": make_mail.mbox(make_mail.eml(b"Words and zylombox.")),
        "a.msg": make_mail.ole(make_mail.msg_item({0x0037: "Hi", 0x1000: "Words and zylomsg."})),
        "a.epub": make_mail.epub({"one.xhtml": markup("epub")}),
        "a.mht": make_mail.multipart(
            "related", f"Content-Type: text/html\r\n\r\n<html><body>{markup('mht')}</body></html>"
        ),
    }


def install(folder: Path, *, python: str, pip: str | None) -> Path:
    """A bare venv with the wheel in it; the folder of its programs."""
    wheels = folder / "wheels"
    _run(
        sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation",
        "-w", str(wheels), str(_HERE),
    )  # fmt: skip
    venv = folder / "venv"
    _run(python, "-m", "venv", str(venv))
    own_python = str(venv / "bin/python")
    if pip is not None:
        _run(own_python, "-m", "pip", "install", "-q", f"pip=={pip}")
    (wheel,) = wheels.glob("*.whl")
    if not zipfile.Path(wheel, "ingest/py.typed").exists():
        raise SystemExit("the wheel has no type information")
    _run(own_python, "-m", "pip", "install", "-q", str(wheel))
    _run(own_python, "-m", "pip", "check")
    _run(own_python, "-m", "api.cli", "--help")
    return venv / "bin"


@contextmanager
def service(programs: Path, folder: Path) -> Iterator[httpx.Client]:
    """`ingest serve` with nothing set but where it is."""
    port = free_port()
    env = {
        **_environment(),
        "INGEST_DATA_DIR": str(folder / "data"),
        "INGEST_PORT": str(port),
        "INGEST_ADMIN_KEY": _KEY,
    }
    log = folder / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [programs / "ingest", "serve"], env=env, stdout=out, stderr=out, cwd=folder
        )
    try:
        with httpx.Client(
            base_url=f"http://127.0.0.1:{port}",
            headers={"Authorization": f"Bearer {_KEY}"},
            timeout=60,
        ) as client:
            yield client
    except BaseException:
        print(log.read_text(errors="replace"), file=sys.stderr)
        raise
    finally:
        process.terminate()
        process.wait()


def check(client: httpx.Client) -> None:
    """Every file is completed and found by its word."""
    ready = _until(lambda: _ready(client))
    if ready["missingParsers"]:
        raise SystemExit(f"not ready: {json.dumps(ready)}")
    sent = files()
    parts = [("files", (name, data)) for name, data in sent.items()]
    answer = client.post("/upload/documents", files=parts).raise_for_status().json()
    states = _until(lambda: _ended(client, len(sent)))
    wrong = {name: state for name, state in states.items() if state != ("completed", None)}
    if wrong or answer["jobCount"] != len(sent):
        raise SystemExit(f"not completed: {wrong or answer}")
    for name in sent:
        question = {"query": "zylo" + name.split(".")[1], "mode": "keyword"}
        hits = client.post("/api/search", json=question).raise_for_status().json()["hits"]
        # Words that are alike ("zylomd", "zylomsg") may follow; the word itself comes first.
        if not hits or hits[0]["uri"] != name:
            raise SystemExit(f"{name} is not found: {hits}")
    print(f"{len(sent)} files completed and found")


def check_dashboard(client: httpx.Client) -> None:
    """The page is there for browsers, and the files that it names."""
    page = client.get("/", headers={"Accept": "text/html"}).raise_for_status()
    named = re.findall(r'(?:src|href)="(assets/[^"]+)"', page.text)
    if not {Path(name).suffix for name in named} >= {".js", ".css"}:
        raise SystemExit(f"the page of the dashboard loads no script or style: {page.text}")
    for name in named:
        client.get(f"/{name}").raise_for_status()
    print(f"the dashboard and {len(named)} files are served")


def _ready(client: httpx.Client) -> dict[str, Any] | None:
    try:
        answer = client.get("/readyz")
    except httpx.TransportError:
        return None
    # It answers before its listener has heard itself: `degraded` until then.
    return dict(answer.json()) if answer.is_success and answer.json()["status"] == "ready" else None


def _ended(client: httpx.Client, count: int) -> dict[str, tuple[str, str | None]] | None:
    items = client.get("/api/knowledge-sources", params={"limit": 200}).json()["items"]
    states = {item["name"]: (item["status"], item["errorCode"]) for item in items}
    is_done = all(state not in ("pending", "processing") for state, _ in states.values())
    return states if is_done and len(states) == count else None


def _until(look: Any) -> Any:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if (found := look()) is not None:
            return found
        time.sleep(0.2)
    raise SystemExit("the service took too long")


def _environment() -> dict[str, str]:
    """Nothing of ours: neither modules nor settings."""
    ours = ("INGEST_", "PYTHON", "VIRTUAL_ENV", "OPENAI_", "FIRECRAWL_", "DATABASE_URL")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def _run(*command: str) -> None:
    subprocess.run(command, check=True, env=_environment(), cwd="/", stdout=subprocess.DEVNULL)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pip")
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ingest-wheel-") as name:
        folder = Path(name)
        programs = install(folder, python=arguments.python, pip=arguments.pip)
        with service(programs, folder) as client:
            check(client)
            check_dashboard(client)


if __name__ == "__main__":
    main()
