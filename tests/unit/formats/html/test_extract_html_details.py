"""What a reader sees besides words: pictures, boxes, powers, notes, code, broken lines."""

import io

import pytest

from ingest.formats.registry import extract


def text_of(body: str) -> str:
    page = f"<!DOCTYPE html><html><body>{body}</body></html>"
    return extract(io.BytesIO(page.encode()), name="a.html").text.strip()


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        # Sphinx, MkDocs, GitHub, GitLab, MediaWiki, Pandoc, SyntaxHighlighter, Confluence
        ('<div class="highlight-python notranslate"><div class="highlight"><pre>x</pre></div>',
         "```python"),
        ('<table class="highlighttable"><tr><td class="linenos"><pre>1</pre></td><td class="code">'
         '<div class="highlight-c"><pre>x</pre></div></td></tr></table>', "```c\nx\n```"),
        ('<div class="highlight highlight-source-shell"><pre>x</pre></div>', "```shell"),
        ('<pre class="code highlight" lang="ruby"><code>x</code></pre>', "```ruby"),
        ('<div class="mw-highlight mw-highlight-lang-rust mw-content-ltr"><pre>x</pre></div>',
         "```rust"),
        ('<pre class="sourceCode haskell"><code class="sourceCode haskell">x</code></pre>',
         "```haskell"),
        ('<pre class="brush: js; gutter: false">x</pre>', "```js"),
        ('<pre data-syntaxhighlighter-params="brush: sql; theme: X">x</pre>', "```sql"),
        ('<pre class="language-c++"><code class="language-c++">x</code></pre>', "```c++"),
        ('<pre><code class="hljs lang-go">x</code></pre>', "```go"),
        ('<div class="highlight-default notranslate"><pre>x</pre></div>', "```\nx"),
        ('<div class="language-c"><pre>x</pre><pre>y</pre><p>z</p></div>', "```\nx"),
        ("<pre><code class=lang-auto>x</code></pre>", "```\nx"),
        ("<pre lang=en>x</pre>", "```\nx"),
    ],
)  # fmt: skip
def test_code_has_its_language(markup: str, expected: str) -> None:
    assert expected in text_of(markup)


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<input type=checkbox checked> paid <input type=checkbox> posted",
         "[x] paid [ ] posted"),
        ("<ul><li><input type=checkbox checked disabled> done<li><input type=checkbox>open</ul>",
         "- [x] done\n- [ ] open"),
        ("<label><input type=checkbox checked>Yes</label><label>No <input type=radio></label>",
         "[x] Yes No [ ]"),
        ("<input type=radio id=y checked><label for=y>Yes</label>", "[x] Yes"),
        ("<ul class=task-list><li><label><input type=checkbox checked><span></span></label> Ship",
         "- [x] Ship"),
        ("<ul class=inline-task-list><li class=checked><span>A</span><li>B</ul>",
         "- [x] A\n- [ ] B"),
        ("<ul><li><div class='checkbox checkbox-on'></div> <span>Book</span>"
         "<li><div class='checkbox checkbox-off'></div> <span>Pay</span></ul>",
         "- [x] Book\n- [ ] Pay"),
        ("<p><span class='chcklst-box checked fa fa-square-check-o'></span> buy</p>", "[x] buy"),
        ("<label><input type=checkbox><span class=checkbox-custom></span> Red</label>", "[ ] Red"),
        ("<div role=checkbox aria-checked=true>Terms</div>", "[x] Terms"),
        ("<table><tr><th>Paid<td><input type=checkbox checked></table>", "| Paid | [x] |"),
        ("<input type=checkbox id=drawer class=md-toggle><label for=drawer></label><p>Text",
         "Text"),
        ("<input type=radio name=t checked><input type=radio name=t><div><label>A</label></div>",
         "A"),
    ],
)  # fmt: skip
def test_checkboxes(markup: str, expected: str) -> None:
    assert expected in text_of(markup)
    assert text_of(markup).count("[") == expected.count("[")


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>Before.</p><img src=a.png alt='Wiring plan of the red relay'><p>After.</p>",
         "Before.\n\nWiring plan of the red relay\n\nAfter."),
        ("<p>See <img src=a.png alt='the red lamp'>!</p>", "See the red lamp!"),
        ("<p>So<img alt='a lamp'>it", "So a lamp it"),
        ("<div><img alt='First view'><img alt='Second view'><img alt='Second view'></div>",
         "First view\n\nSecond view"),
        ("<p>Fun <img class=emoji alt='😀'> <img class=emoji alt='😀'></p>", "Fun 😀 😀"),
        ("<p>It is <img class='mwe-math-fallback-image-inline' aria-hidden=true"
         " alt='{\\displaystyle x^{2}}'>.</p>", "It is x^{2}."),
        ("<table><tr><th>Dog<td><img width=16 alt=Yes><tr><th>Cat<td><img width=16 alt=No></table>",
         "| Dog | Yes |\n| --- | --- |\n| Cat | No |"),
        ("<h1>Drill</h1><img alt=drill><p>Text", "# Drill\n\nText"),
        ("<figure><img alt='A duck'><figcaption>A duck, 1990</figcaption></figure>",
         "A duck, 1990"),
        ("<a href=/b><img alt='Flood'> Flood in Ghent</a>", "[Flood in Ghent](/b)"),
        ("<a href=/x><img alt='Image of Jane Doe'><p>Jane Doe</p></a>", "[Jane Doe](/x)"),
        ("<div><a href=/x><img alt='Photo of Jane Doe'></a><b>Jane Doe</b></div>", "**Jane Doe**"),
        ("<a href=/x><div><img alt='A red boat'></div><p>Boats</p></a>",
         "A red boat\n\n[Boats](/x)"),
        ("<p>a</p><img alt='4 of 5 stars' width=80 height=16>", "a\n\n4 of 5 stars"),
        ("<p>a</p><img alt='IMG_2031.jpg'><img alt='image1'><img alt=logo><img alt=''>", "a"),
        ("<p>a</p><img alt=Lock width=16><img alt=Dots role=presentation>", "a"),
        ("<p>a <a href=/ci><img alt='Build Status' src=https://img.shields.io/b.svg></a></p>", "a"),
    ],
)  # fmt: skip
def test_pictures_say_what_they_show(markup: str, expected: str) -> None:
    assert text_of(markup) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>The chip has 2<sup>10</sup> cells and a tolerance of 10<sup>-3</sup>; CO<sub>2</sub>"
         " is allowed. See note<sup>4</sup>.</p><p>E = mc<sup>2</sup></p>",
         "The chip has 2^10 cells and a tolerance of 10^-3; CO₂ is allowed. See note[^4].\n\n"
         "E = mc²"),
        ("<p>x<sup>y<sup>2</sup></sup>, SO<sub>4</sub><sup>2-</sup>", "x^(y²), SO₄²⁻"),
        ("<p><em>x</em><sup>2</sup> + <i>y</i><sub><i>i</i></sub></p>", "*x*² + *y*_i"),
        ("<p>10<span style='vertical-align:super'>-3</span> and CO<span style='font-size:8pt;"
         "vertical-align: sub'>2</span>", "10^-3 and CO₂"),
        ("<p>Add 1<sup>1</sup>&frasl;<sub>2</sub> cups, <sup>1</sup>/<sub>4</sub> spoon",
         "Add 1 1/2 cups, 1/4 spoon"),
        # notes of Pandoc, GitHub, MediaWiki, markdown-it, Word, Sphinx
        ("<p>In 2023<a href='#fn1' role=doc-noteref><sup>1</sup></a>.", "In 2023[^1]."),
        ("<p>In 2023<sup><a href='#fn-1' data-footnote-ref>1</a></sup>.", "In 2023[^1]."),
        ("<p>Fluids<sup class=reference><a href='#c'><span>[</span>1<span>]</span></a></sup>.",
         "Fluids[1]."),
        ("<p>Text<sup class=footnote-ref><a href='#fn1'>[1]</a></sup>.", "Text[1]."),
        ("<p>N.<a href='#_ftn1' name='_ftnref1'><span>[1]</span></a>", "N.[1]"),
        ("<p>See<a class='footnote-reference brackets' href='#id2'>[1]</a>.", "See[1]."),
        ("<p>As shown<sup><a href='#b1'>1</a>,<a href='#b2'>2</a></sup>", "As shown[^1,2]"),
        ("<ol><li>The note. <a href='#r' class=footnote-back>↩︎</a></ol>", "1. The note."),
        ("<h2>Part<a class=headerlink href='#part'>¶</a></h2><p>Text", "## Part\n\nText"),
        ("<h2>Part<span class=mw-editsection>[<a href=/e>edit</a>]</span></h2><p>Text",
         "## Part\n\nText"),
        ("<p><a href='#id1'><sup>[1] </sup></a>The text.", "[1] The text."),
        ("<p>At 20<sup>o</sup>C and 90<sup>o</sup>", "At 20°C and 90o"),
        ("<p>Source<sup><a href='https://a.example/x'>list</a></sup>",
         "Source[list](https://a.example/x)"),
    ],
)  # fmt: skip
def test_raised_and_lowered_text(markup: str, expected: str) -> None:
    assert text_of(markup) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>The first line of a\nparagraph that the source\r\n  has <b>wrapped\nhere</b>\n.</p>",
         "The first line of a paragraph that the source has **wrapped here** ."),
        ("<ul>\n<li>One\n two</li>\n<li>three</li>\n</ul>", "- One two\n- three"),
        ("<blockquote>a\nb</blockquote>", "> a b"),
        ("<h2>Long\nheading</h2><p>Text", "## Long heading\n\nText"),
        ("<p>これは長い文章で、\n改行されています。", "これは長い文章で、改行されています。"),
        ("<p>한국어\n문장", "한국어 문장"),
        ("<pre>a\n  b\n</pre>", "```\na\n  b\n```"),
        ("<p style='white-space: pre-line'>Line A\nLine B</p>", "Line A  \nLine B"),
        ("<p>Roses are red,<br>\nviolets are blue</p>", "Roses are red,  \nviolets are blue"),
        ("<address>ACME Ltd<br>1 Main St<br>Town</address>", "ACME Ltd  \n1 Main St  \nTown"),
        ("<p>We have received your order of the 3rd of May and will send the<br>goods as soon as"
         " the ship has come into the harbour, which may<br>\ntake some weeks.<br>Yours",
         "We have received your order of the 3rd of May and will send the goods as soon as the"
         " ship has come into the harbour, which may take some weeks.  \nYours"),
        ("<p>a : the opening in a photographic lens that admits the light<br>b : the diameter",
         "a : the opening in a photographic lens that admits the light  \nb : the diameter"),
        ("One line\nof text without markup.\n\n  Another\nparagraph.\n",
         "One line of text without markup.\n\nAnother paragraph."),
        ("<p>Close bosom-friend of the maturing warm sun;<br>conspiring with him how to load and"
         " bless<br>With fruit the vines",
         "Close bosom-friend of the maturing warm sun;  \nconspiring with him how to load and"
         " bless  \nWith fruit the vines"),
    ],
)  # fmt: skip
def test_lines_are_those_of_the_author(markup: str, expected: str) -> None:
    assert text_of(markup) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<table><tr><th>Name<th>Details<tr><td>Pump<td><table><tr><td>Volt<td>230<tr><td>Watt:<td>"
         "60</table><tr><td>Valve<td>none</table>",
         "| Name | Details |\n| --- | --- |\n| Pump | Volt: 230; Watt: 60 |\n| Valve | none |"),
        ("<table><tr><th>A<td><table>" + "<tr><td>a<td>b" * 20 + "</table></table>",
         "A\n\n| a | b |\n| --- | --- |" + "\n| a | b |" * 19),
        ("<table><tr><th>Host<th>Ports<tr><td>db<td><ul><li>5432<li><b>22</b><li>80</ul></table>",
         "| Host | Ports |\n| --- | --- |\n| db | 5432; **22**; 80 |"),
        ("<table><tr><th>Plan<th>Has<tr><td>Pro<td>Mail<br>Chat<br><b>Phone</b><br>Fax of<br>old"
         "<tr><td>Basic<td><p>Mail</p><p>Chat.</p><p>SMS</p></table>",
         "| Plan | Has |\n| --- | --- |\n| Pro | Mail; Chat; **Phone**; Fax of old |\n"
         "| Basic | Mail; Chat. SMS |"),
        ("<table><tr><th>A<th>B<tr><td>1<td><ul><li><p>x</p><li><p><i>y</i></p><li>z.<li>w</ul>"
         "</table>", "| A | B |\n| --- | --- |\n| 1 | x; *y*; z. w |"),
        ("<dl><div><dt>Weight</dt><dd>1.4 kg</dd></div><div><dt>Size</dt><dd>10</dd></div></dl>",
         "- **Weight**: 1.4 kg\n- **Size**: 10"),
        ("<dl><dt>Ports:</dt><dd>22</dd><dd>80</dd></dl>", "- **Ports:** 22; 80"),
        ("<p><mark>found</mark> words", "found words"),
    ],
)  # fmt: skip
def test_tables_and_lists_of_terms(markup: str, expected: str) -> None:
    assert text_of(markup) == expected


@pytest.mark.parametrize(
    "markup",
    [
        "<p>" + "x<sup>2</sup>" * 20_000 + "word",
        "<sup>" * 500 + "word",
        "<p>word" + "<br>\nx" * 20_000,
        "<p style='white-space:pre'>" + "a\n" * 20_000 + "word",
        "<p>" + "<img alt='word'>" * 20_000,
        "<p>word" + "<input type=checkbox>x" * 20_000,
        "<dl>" + "<div><dt>word</dt><dd>x</dd></div>" * 10_000 + "</dl>",
        "<div class=highlight-a>" * 300 + "<pre>word</pre>" * 5_000,
        "<table><tr><th>word<td>" + "<table><tr><td>x</table>" * 5_000 + "</table>",
        "<table><tr><th>word<td><ul>" + "<li>x" * 20_000 + "</ul></table>",
        "<a href='#x'>" * 5_000 + "word",
    ],
)
def test_hostile_pages_are_read_completely(markup: str) -> None:
    assert "word" in text_of(f"<p>first</p>{markup}")
