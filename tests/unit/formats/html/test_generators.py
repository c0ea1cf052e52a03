"""Pages as generators of documentation write them: tabs, numbered code, formulas, terms."""

import io

import pytest

from ingest.formats.registry import extract

NUMBERS = (
    '<td><pre><code><span class="lnt">1\n</span><span class="lnt">2\n</span></code></pre></td>'
)
CODE = '<td><pre><code class="language-c">int x;\nint y;\n</code></pre></td>'
ROUGE = (
    "<figure class=highlight><pre><code class=language-ruby><table><tr><td class='gutter gl'>"
    "<pre class=lineno>1\n2\n</pre></td><td class=code><pre><b>def</b> foo\nend\n</pre></td></tr>"
    "</table></code></pre></figure>"
)
LINES = "<pre>{}</pre>".format(
    "".join(f"<div><span>{at}</span><div>{line}</div></div>" for at, line in ((1, "a"), (2, "b")))
)
VALUES = "<pre><span>1</span>,\n<span>2</span>,\n</pre>"
HEXO = (
    "<figure class='highlight sh'><table><tr><td class=gutter><pre>1\n</pre></td>"
    "<td class=code><pre>echo hello</pre></td></tr></table></figure>"
)
UNSELECTABLE = '<span style="user-select:none">{}</span>'


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (
            "<p><b>A</b><a>Lite</a> <a>More</a></p>"
            "<div role=tabpanel><p>Basic</p></div><div role=tabpanel hidden><p>Pro</p></div>"
            "<div role=tabpanel style='display:none'><p>Max</p></div>",
            "**A**Lite More\n\nBasic\n\nPro\n\nMax",
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
        (ROUGE, "```ruby\ndef foo\nend\n```"),
        (HEXO, "```sh\necho hello\n```"),
        (f"<code>{LINES}</code>", "```\na\nb\n```"),
        (VALUES, "```\n1,\n2,\n```"),
        (
            "<pre><code><div><div class=gutter><div class=ln>7</div></div><b>x = 1</b></div></code>"
            "</pre>",
            "```\nx = 1\n```",
        ),
        (
            "<div class=code-block data-lang=http>GET /items\n&gt; ok</div>",
            "```http\nGET /items\n> ok\n```",
        ),
        (
            "<div><div><button>x</button><div aria-hidden=true>Copy</div></div><div><pre>a</pre>"
            "</div></div><p>Copy it.</p>",
            "```\na\n```\n\nCopy it.",
        ),
        ("<code class='hl lean block'>\n<b>def</b> x\n  y</code>", "```\ndef x\n  y\n```"),
        ("<pre>List[<a href='/t'>Token</a>]</pre>", "```\nList[Token]\n```"),
        ("<p>Of <code class=block-name>a</code>.</p>", "Of `a`."),
        ("<p>Of <code><b id=prev-next>a</b></code>.</p>", "Of `a`."),
        ("<p>A <a href='javascript:void(0)'>word</a> more.</p>", "A word more."),
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
