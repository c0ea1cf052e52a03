"""Behind nginx, configured as docs/operations.md says."""

import json
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest
from websockets.sync.client import connect
from websockets.typing import Origin

from harness.patience import PATIENCE
from harness.service import KEY, Service, free_port, until

NGINX: Final = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin")
DOCS: Final = Path(__file__).parents[2] / "docs" / "operations.md"

pytestmark = pytest.mark.skipif(NGINX is None, reason="needs nginx")

_CONFIGURATION = """
daemon off; pid nginx.pid; error_log stderr; worker_processes 1;
events {}
http {
    access_log off;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    server { listen 127.0.0.1:PORT; LOCATION }
}
"""


@pytest.fixture
def service(start: Callable[..., Service]) -> Service:
    return start("serve", INGEST_ROOT_PATH="/rag").wait_until_ready()


@pytest.fixture
def proxy(service: Service, tmp_path: Path) -> Iterator[str]:
    """The address of nginx, without the path."""
    example = re.search(r"```nginx\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert example is not None
    assert NGINX is not None
    port = free_port()
    location = example[1].replace("http://127.0.0.1:8000", service.url)
    folder = tmp_path / "nginx"
    folder.mkdir()
    (folder / "nginx.conf").write_text(
        _CONFIGURATION.replace("PORT", str(port)).replace("LOCATION", location)
    )
    process = subprocess.Popen([NGINX, "-p", str(folder), "-c", "nginx.conf"])
    try:
        until(lambda: process.poll() is not None or _listens(port))
        assert process.poll() is None
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) == 0


def test_a_browser_signs_in_uploads_and_hears_of_it(proxy: str) -> None:
    large = b"some words " * 400_000  # beyond the 1 MiB that nginx lets through by itself
    page = {"Origin": proxy, "X-Ingest-Csrf": "1"}
    with httpx.Client(base_url=proxy, headers=page, timeout=PATIENCE) as browser:
        bare = browser.get("/rag", headers={"Accept": "text/html"})
        signed_in = browser.post("/rag/api/session", json={"key": KEY})
        cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        uploaded = browser.post("/rag/upload/documents", files={"files": ("a.txt", large)})

        assert uploaded.status_code == 202, uploaded.text
        [source] = uploaded.json()["knowledgeSourceIds"]
        with connect(
            proxy.replace("http", "ws") + "/rag/api/ws",
            origin=Origin(proxy),
            additional_headers={"Cookie": cookie},
        ) as live:
            live.send(
                json.dumps(
                    {"type": "subscribe", "knowledgeSourceIds": [source], "after": {source: 0}}
                )
            )
            while json.loads(live.recv(timeout=PATIENCE))["type"] != "done":
                pass

    assert bare.headers["location"] == f"{proxy}/rag/"
    assert signed_in.status_code == 201


def test_events_are_not_kept_back_until_the_stream_ends(proxy: str, service: Service) -> None:
    [source] = service.upload([("a.txt", b"some words")])["knowledgeSourceIds"]
    service.wait_until_terminal(source)
    headers = {"Authorization": f"Bearer {KEY}", "Last-Event-ID": "0"}
    address = f"{proxy}/rag/api/knowledge-sources/{source}/stream"

    with httpx.stream("GET", address, headers=headers, timeout=PATIENCE) as answer:
        first = next(answer.iter_lines())

    assert answer.headers["content-type"].startswith("text/event-stream")
    assert first


def test_an_upload_is_answered_before_it_has_arrived(proxy: str) -> None:
    """Else nginx would store it on its own disk first."""
    port = int(proxy.rpartition(":")[2])
    head = (
        "POST /rag/upload/documents HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer wrong\r\n"
        "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 9000000\r\n\r\n--b"
    )

    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
        client.sendall(head.encode())
        answer = client.recv(12)

    assert answer == b"HTTP/1.1 401"
