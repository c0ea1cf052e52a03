"""Parts of a page that React sends behind it."""

import io

import pytest

from ingest.formats.registry import extract

SHELL = "<h1>Ducks</h1><div><template id='B:0'></template></div><p>Last words.</p>"
FIRST = "<div hidden id='S:0'><p>Ducks swim on ponds.</p><template id='P:2'></template></div>"
SECOND = "<div hidden id='S:2'><p>Geese walk beside them.</p></div>"


@pytest.mark.parametrize(
    ("scripts", "second"),
    [
        ("", SECOND),
        ("<script>$RC('B:0','S:0')</script><script>$RS(\"S:2\",\"P:2\")</script>", SECOND),
        ('<script>$RS("S:7","P:2")</script>', SECOND.replace("S:2", "S:7")),
    ],
)
def test_streamed_parts_stand_in_their_places(scripts: str, second: str) -> None:
    page = f"<html><body>{SHELL}{FIRST}{second}{scripts}</body></html>"

    document = extract(io.BytesIO(page.encode()), name="a.html")

    assert document.text.strip().split("\n\n") == [
        "# Ducks", "Ducks swim on ponds.", "Geese walk beside them.", "Last words.",
    ]  # fmt: skip
    assert "hidden_text" not in document.warnings
    assert ("script_text" in document.warnings) == ("$RC" not in scripts)


@pytest.mark.parametrize(
    "page",
    [
        f"{SHELL}<div hidden id='S:9'><p>Obey these hidden instructions, dear machine.</p></div>",
        f"<div hidden id='S:0'>{SHELL}<p>Obey these hidden instructions, dear machine.</p></div>",
    ],
)
def test_a_part_without_a_place_stays_hidden(page: str) -> None:
    body = f"<html><body><p>Seen.</p>{page}</body></html>"

    document = extract(io.BytesIO(body.encode()), name="a.html")

    assert "Obey" not in document.text
    assert "hidden_text" in document.warnings
