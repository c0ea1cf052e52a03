"""Hidden parts of pages that readers open are read; menus, dialogs and hidden words are not."""

import io

import pytest

from ingest.formats.registry import extract

ANSWER = "Send it back within thirty days of delivery, with the receipt."
OPENED = [
    "<h3><button aria-controls=a>Returns?</button></h3><div id=a hidden>{}</div>",
    "<button class=accordion>How to return it</button><div style='display:none'>{}</div>",
    "<button>How to return it</button><div class=panel><p>{}</p></div>",
    "<a role=button href='#b'>Returns</a><p>Or:</p><div id=b style='display:none'>{}</div>",
    "<a data-bs-toggle=collapse data-bs-target='#c'>Returns</a><br><div id=c hidden>{}</div>",
    "<h3>How do I return it?</h3><div style='display:none' aria-hidden=true>{}</div>",
    "<div class=faq><div>Returns</div><div class=flat>{}</div></div>",
    "<h4>Returns</h4><div x-show=open style='display: none'>{}</div>",
    "<div class='tab-pane'>First</div><div class='tab-pane' style='display:none'>{}</div>",
    "<div class=read-more style='display:none'>{}</div><button>Read on</button>",
]
SHUT = [
    "<div hidden>{}</div>",
    "<p>Some words</p><div style='display:none'>{}</div>",
    "<h3>Returns</h3><div style='display:none'>{}</div>",
    "<button aria-controls=m>Window</button><p>x</p><div id=m class=modal hidden>{}</div>",
    "<nav><button aria-controls=n>All products</button><div id=n hidden>{}</div></nav>",
    "<button>All of it</button><div style='display:none'><a href=/a>{}</a></div>",
    "<button style='display:none'>Returns</button><div style='display:none'>{}</div>",
    "<button>How to return it</button><div style='font-size:0'>{}</div>",
    "<button>How to return it</button><p style='position:absolute;left:-9999px'>{}</p>",
]
SEEN = "Whoever is not happy with what came may give it back, whatever the reason. " * 3
SHEET = "<style>.panel{display:none} .flat{max-height:0;overflow:hidden}</style>"


def read(markup: str) -> tuple[str, bool]:
    head = f"<head><title>Help</title>{SHEET}</head>"
    page = f"<html>{head}<body><main><p>{SEEN}</p>{markup}</main></body></html>"
    document = extract(io.BytesIO(page.encode()), name="a.html")
    return document.text, "hidden_text" in document.warnings


@pytest.mark.parametrize("markup", OPENED)
def test_what_a_control_opens_is_read(markup: str) -> None:
    text, hides = read(markup.format(ANSWER))

    assert ANSWER in text
    assert not hides


@pytest.mark.parametrize("markup", SHUT)
def test_what_no_control_opens_stays_hidden(markup: str) -> None:
    text, hides = read(markup.format(ANSWER))

    assert ANSWER not in text
    assert hides


def test_a_button_above_what_it_opens_is_its_heading() -> None:
    text, _ = read(f"{OPENED[1].format(ANSWER)}<button>Buy now</button>")

    assert "How to return it" in text
    assert "Buy now" not in text
