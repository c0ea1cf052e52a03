"""Sources of all kinds, also with names that attack the page."""

from typing import Final

from harness.service import Service

MARKUP: Final = "<img src=x onerror=alert(1)>.txt"
RTL: Final = "דוח שנתי (סופי).txt"
LONG: Final = "/".join(["ü" * 60] * 30) + ".txt"
BROKEN: Final = ("broken.pdf", b"%PDF-1.4 no")


def fill(service: Service) -> None:
    """Upload files of all kinds, and wait until they are read."""
    files = [(f"docs/{n}.md", f"# Part {n}\n\nwords of {n}".encode()) for n in range(5)]
    hostile = [(name, name.encode()) for name in (MARKUP, RTL, "🦊.txt", LONG)]
    service.upload([*files, *hostile, BROKEN])
    service.wait_until_terminal(service.get("/api/me")["application"]["id"])


def source_id(service: Service, uri: str) -> str:
    [source] = service.get("/api/knowledge-sources", uri=uri)["items"]
    return str(source["id"])
