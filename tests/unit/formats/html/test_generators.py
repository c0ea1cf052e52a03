"""Pages as generators of documentation write them: tabs, numbered code, formulas, terms."""

import io

import pytest

from ingest.formats.registry import extract

NUMBERS = (
    '<td><pre><code><span class="lnt">1\n</span><span class="lnt">2\n</span></code></pre></td>'
)
CODE = '<td><pre><code class="language-c">int x;\nint y;\n</code></pre></td>'
UNSELECTABLE = '<span style="user-select:none">{}</span>'


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (
            "<div role=tabpanel><p>Basic</p></div><div role=tabpanel hidden><p>Pro</p></div>"
            "<div role=tabpanel style='display:none'><p>Max</p></div>",
            "Basic\n\nPro\n\nMax",
        ),
        ("<p>Seen</p><div role=tabpanel hidden><p>Alone</p></div>", "Seen"),
        (f"<table><tr>{NUMBERS}{CODE}</tr></table>", "```c\nint x;\nint y;\n```"),
        (
            "<table><tr><td><pre>200</pre></td><td><pre>OK</pre></td></tr></table>",
            "| `200` | `OK` |\n| --- | --- |",
        ),
        (
            f"<pre>{UNSELECTABLE.format(1)}a = 1\n{UNSELECTABLE.format(2)}b = 2\n</pre>",
            "```\na = 1\nb = 2\n```",
        ),
        (
            "<p>So <span class=MathJax>drawn</span>"
            "<script type='math/tex'>% <![CDATA[\nb^{10} %]]></script> ends.</p>",
            "So b^{10} ends.",
        ),
        (
            "<dl><dt id=f>open()<a href='#f'>¶</a></dt><dd>Opens a file.</dd></dl>",
            "- **open()**: Opens a file.",
        ),
        ("<p>Seen</p><amp-img src=a.jpg alt='Bridge at noon'></amp-img>", "Seen\n\nBridge at noon"),
    ],
)
def test_generated_pages(markup: str, expected: str) -> None:
    page = f"<!DOCTYPE html><html><body>{markup}</body></html>"

    assert extract(io.BytesIO(page.encode()), name="a.html").text.strip() == expected
