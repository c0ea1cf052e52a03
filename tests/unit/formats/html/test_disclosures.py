"""Hidden parts of pages that readers open are read; menus, dialogs and hidden words are not.

What is read is reported, because nobody can say for certain that a control works.
"""

import io

import pytest

from ingest.formats.html.fragment import whole_markdown
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
    "<ul><li>One</li><li>Two</li></ul><div><div class='tab-pane'>First</div>"
    "<div class='tab-pane' style='display:none'>{}</div></div>",
    "<p>Goods<sup>1</sup><span class=footnote-text style='display:none'>{}</span> come.</p>",
    "<p>Goods<label for=n>1</label><input type=checkbox><span class=sidenote hidden>{}</span></p>",
    "<h3>Returns <button aria-controls=d><svg></svg></button></h3><hr><div id=d hidden>{}</div>",
    "<div class=read-more style='display:none'>{}</div><button>Read on</button>",
]
EMPTY = "<button aria-controls=a{}></button><br><div id=a hidden>{{}}</div>"
FULL = "<div{}><button aria-controls=a>Returns</button></div><br><div id=a hidden>{{}}</div>"
SHUT = [
    EMPTY.format(""),
    EMPTY.format(" aria-label='How to return it'"),
    FULL.format(" hidden"),
    FULL.format(" class=panel"),
    FULL.format(" style='position:absolute;left:-9999px'"),
    FULL.format(" style='width:1px;height:1px;overflow:hidden'"),
    FULL.format(" style='opacity:0'"),
    "<button aria-controls=a style='color:#fff;background:#fff'>Returns</button><br>"
    "<div id=a hidden>{}</div>",
    "<button aria-controls=a><b hidden>Returns</b></button><br><div id=a hidden>{}</div>",
    "<button aria-controls=a disabled>Returns</button><br><div id=a hidden>{}</div>",
    "<button class=panel>Returns</button><div hidden>{}</div>",
    "<button>Returns</button><div style='display:none;font-size:0'>{}</div>",
    "<button>Returns</button><div style='display:none;position:absolute;left:-9999px'>{}</div>",
    "<button>Returns</button><div style='max-height:0;overflow:hidden;color:#fff'>{}</div>",
    "<div class='tab-pane'>First</div><div class='tab-pane' style='display:none'>{}</div>",
    "<p>Goods come. <span class=footnote style='display:none'>{}</span></p>",
    "<p>Goods<sup class=panel>1</sup><span class=footnote style='display:none'>{}</span></p>",
    "<div class=cookie-banner><p><button>Marketing</button><div hidden>{}</div></p></div>",
    "<div class=filters><h4>Size</h4><div class=collapse hidden>{}</div></div>",
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


def read(markup: str) -> tuple[str, tuple[str, ...]]:
    head = f"<head><title>Help</title>{SHEET}</head>"
    page = f"<html>{head}<body><main><p>{SEEN}</p>{markup}</main></body></html>"
    document = extract(io.BytesIO(page.encode()), name="a.html")
    return document.text, document.warnings


@pytest.mark.parametrize("markup", OPENED)
def test_what_a_control_opens_is_read(markup: str) -> None:
    text, warnings = read(markup.format(ANSWER))

    assert ANSWER in text
    assert warnings == ("folded_text",)


@pytest.mark.parametrize("markup", SHUT)
def test_what_no_control_opens_stays_hidden(markup: str) -> None:
    text, warnings = read(markup.format(ANSWER))

    assert ANSWER not in text
    assert "hidden_text" in warnings


def test_no_control_of_a_message_opens_anything() -> None:
    """No scripts run in it."""
    assert whole_markdown(f"<p>{SEEN}</p>{OPENED[1].format(ANSWER)}")[1]


def test_a_button_above_what_it_opens_is_its_heading() -> None:
    text, _ = read(f"{OPENED[1].format(ANSWER)}<button>Buy now</button>")

    assert "How to return it" in text
    assert "Buy now" not in text
