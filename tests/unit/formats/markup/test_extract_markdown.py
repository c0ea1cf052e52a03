"""Markdown of GitHub, Obsidian, Docusaurus, MkDocs, MyST, Quarto, Hugo: what readers see."""

import io

import pytest

from ingest.chunking.structure_reader import read_structure
from ingest.formats import registry
from ingest.model import Document


def extract(text: str, name: str = "a.md") -> Document:
    return registry.extract(io.BytesIO(text.encode()), name=name)


def paragraphs(text: str, name: str = "a.md") -> list[str]:
    """Paragraphs of the extracted text, each on one line."""
    return [
        " ".join(part.split()) for part in extract(text, name).text.split("\n\n") if part.strip()
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("> [!WARNING]\n> Do not.\n", ["> **Warning** >", "> Do not."]),
        ("> [!note]- Folded\n> Inside.\n", ["> **Folded** > > Inside."]),
        (":::tip My tip\n\nUse it.\n\n:::\n", ["**My tip**", "Use it."]),
        (":::caution[Hot *pan*]\nHot.\n:::\n", ["**Hot *pan***", "Hot."]),
        ("::::info\n:::danger\nInner.\n:::\n::::\nAfter.\n",
         ["**Info**", "**Danger**", "Inner. After."]),
        ('::: {.callout-note title="Mind"}\nBody.\n:::\n', ["**Mind**", "Body."]),
        ('::: {.column width="50%"}\nLeft.\n:::\n', ["Left."]),
        ('!!! note "Mind"\n\n    Body.\n\n    ```py\n    x()\n    ```\n\nAfter.\n',
         ["**Mind**", "Body.", "```py x() ```", "After."]),
        ("??? tip\n    Body.\nAfter.\n", ["**Tip**", "Body. After."]),
        ('=== "Linux"\n\n    apt\n\n=== "Mac"\n\n    brew\n',
         ["**Linux**", "apt", "**Mac**", "brew"]),
        ("/// note | Mind\nBody.\n///\n", ["**Mind**", "Body."]),
        ("```{tip} Mind\n:class: dropdown\n\nBody.\n```\nAfter.\n", ["**Mind**", "Body. After."]),
        ('{% hint style="info" %}\nHint.\n{% endhint %}\n', ["Hint."]),
        ('{% tab title="Bash" %}\nrun\n{% endtab %}\n', ["**Bash**", "run"]),
        ('{{< tab "Bash" >}}\nrun\n{{< /tab >}}\n', ["**Bash**", "run"]),
        ("{% highlight ruby %}\nputs 1\n{% endhighlight %}\n", ["```ruby puts 1 ```"]),
    ],
)  # fmt: skip
def test_admonitions_tabs_and_callouts_show_their_titles(text: str, shown: list[str]) -> None:
    found = paragraphs("# H\n\n" + text)

    assert "\n\n".join(found).split() == "\n\n".join(["# H", *shown]).split()
    assert found[0] == "# H"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('<h1 align="center">\n  <img src="x.png" alt="">\n  My <b>Project</b>\n</h1>\n\nText\n',
         "#  My **Project**\n\nText"),
        ('<p align="center">\n<a href="https://x.org"><img src="b.svg" alt="Build"></a></p>\nx\n',
         "[![Build](b.svg)](https://x.org)\n\nx"),
        ("<details>\n<summary>Why?</summary>\n\nSo **it** is.\n</details>\n",
         "Why?\n\nSo **it** is."),
        ("<table>\n<tr><th>K</th><th>V</th></tr>\n<tr><td>a</td><td>1</td></tr>\n</table>\nx\n",
         "| K | V |\n| --- | --- |\n| a | 1 |\n\nx"),
        ("<style>\n.x { color: red }\n</style>\n<script>\nalert(1)\n</script>\nx\n", "x"),
        ("a<br>b<br/>c\n| a<br>b | c |\n", "a\nb\nc\n| a b | c |"),
        ("Press <kbd>Ctrl</kbd>+<kbd>C</kbd> <span class='x'>now</span>\n", "Press Ctrl+C now"),
        ("AT&amp;T, caf&eacute;, 5&nbsp;km, &lt;b&gt;, &copy;\n", "AT&T, café, 5 km, <b>, ©"),
        ("| a &#124; b | c |\n|---|---|\n", "| a \\| b | c |\n|---|---|"),
        ("<script>\nalert(1)</Script> and\nmore\n", "and\nmore"),
        ("a \\<b>x\\</b> \\&amp; \\[[x]] `\\<i>`\n", "a \\<b>x\\</b> \\&amp; \\[[x]] `\\<i>`"),
        ("&lt;script> and more\n\n# H\n", "\\<script> and more\n\n# H"),
        ("`<b>` and ``a `<i>` &amp;`` stay\n", "`<b>` and ``a `<i>` &amp;`` stay"),
        ("$a<b>c$ and $$x <i> y$$ stay\n", "$a<b>c$ and $$x <i> y$$ stay"),
        ("List<String> of <T>, a < b and c > d, npm i <name>\n",
         "List<String> of <T>, a < b and c > d, npm i <name>"),
        ("cp <source> <path>, <time>now</time>\n", "cp <source> <path>, now"),
        ("<ada@x.org> <https://x.org/a>\n", "<ada@x.org> <https://x.org/a>"),
        ("a\\\nb  \nc\n", "a\nb  \nc"),
        ("See [[Page|the page]], ![[Other]] and [[a]](b) %%not shown%%.\n"
         "100%% is %%d.\n", "See the page, Other and [[a]](b) %%not shown%%.\n100%% is %%d."),
        ("Said %%not shown%% here\n", "Said  here"),
        ("{ref}`the part <x>` and {doc}`guide` [word]{.mark} `x`{.py}\n",
         "the part and guide [word] `x`"),
        ("[TOC]\n\nx\n{: .no_toc }\n(target)=\n", "x"),
        ("<a name='x'></a>Text <a href='#y'>inner</a>\n", "Text inner"),
    ],
)  # fmt: skip
def test_inline_markup_of_other_languages_is_written_as_a_reader_sees_it(
    text: str, shown: str
) -> None:
    lines = [line.rstrip() for line in extract(text).text.strip().split("\n")]

    assert [line for line in lines if line] == [line.rstrip() for line in shown.split("\n") if line]


MDX = """import Tabs from '@theme/Tabs';
import {
  A,
} from './a';

export const meta = {
  title: 'x',
}

# Page {#page}

<Tabs values={[{label: 'x'}]}>
<TabItem value="mac" label="macOS">

Use <Mark color="red">brew</Mark>.{/* not shown */}

</TabItem>
</Tabs>

```js
import x from 'y'
<Tabs>
```
"""


def test_components_of_mdx_are_no_text() -> None:
    assert paragraphs(MDX, "a.mdx") == [
        "# Page", "**macOS**", "Use brew.", "```js import x from 'y' <Tabs> ```",
    ]  # fmt: skip


def test_components_on_lines_of_their_own_are_no_text_in_markdown_either() -> None:
    text = "<Card title='Start'>\n\nWith <T> inside.\n\n</Card>\n"

    assert paragraphs(text) == ["**Start**", "With <T> inside."]


@pytest.mark.parametrize(
    ("fence", "shown"),
    [
        ("```{r setup, include=FALSE}", "```r"),
        ("```{python}", "```python"),
        ("~~~ {.haskell .numberLines}", "~~~haskell"),
        ("```{code-block} yaml", "```yaml"),
        ('```js title="a.js" {1,3}', '```js title="a.js" {1,3}'),
    ],
)
def test_code_cells_keep_their_language_only(fence: str, shown: str) -> None:
    marks = fence[:3]

    text = extract(f"{fence}\n#| echo: false\nx <b>&amp;</b>\n{marks}\n\n# H\n").text

    kept = "" if "{" in fence and "title" not in fence else "#| echo: false\n"
    assert text == f"{shown}\n{kept}x <b>&amp;</b>\n{marks}\n\n# H\n"


@pytest.mark.parametrize(
    "code",
    [
        "1. Item\n   ```sh\n   # <b>\n   ::: x\n   ```\n",
        "> ```\n> <b>&amp;\n> ```\n",
        "Text\n\n    <div>&amp;\n\n    !!! note\n    <br>\n\nText\n",
        "````md\n```\n:::note\n```\n<b>x</b>\n````\n",
    ],
)
def test_code_of_any_kind_stays_as_it_is(code: str) -> None:
    assert extract(code).text == code


def test_code_in_a_quotation_ends_with_it() -> None:
    assert extract("> ```\n> x\n\n<b>a</b>\n").text == "> ```\n> x\n\n**a**\n"


def test_attributes_of_headings_are_no_part_of_their_names() -> None:
    text = "# One {#one .x}\n\nTwo {#two}\n---\n\n## Use {name} {.unnumbered}\n\n## `f` {1, 2}\n"

    names = [heading.title for heading in read_structure(extract(text).text).headings]

    assert names == ["One", "Two", "Use {name}", "f {1, 2}"]


def test_a_heading_with_a_link_gives_its_words_as_the_title() -> None:
    assert extract("# [The *x*](https://x.org) of `f`\n\ntext").title == "The x of f"
    assert extract("# -----\n\n# Ropes\n\ntext").title == "Ropes"


@pytest.mark.parametrize(
    "piece",
    ["<a ", '<a href="x', "<table>\n", "<h1>", "[[a|", "&amp;", "``", "$x ", "{/*", "{ref}`",
     "# x {#a ", "!!! a\n    ", "> [!x", "{% ", "```{a\n", "<A {", "<script>", "<br>", "%% "],
)  # fmt: skip
@pytest.mark.parametrize("name", ["a.md", "a.mdx"])
def test_dialects_are_read_in_linear_time(name: str, piece: str) -> None:
    assert extract("x\n" + piece * 20_000, name).text  # quadratic: minutes


@pytest.mark.parametrize(
    "text",
    [
        "if (a<b && c>d) or (i<s || j>p) or [a<b, c>d] then",
        "a[[0]], m[[i]], [[1, 2]] and if [[ -f $x ]]; then or [[-n a]]",
    ],
)
def test_expressions_are_no_markup(text: str) -> None:
    assert paragraphs(f"Text\n\n{text}\n") == ["Text", text]


def test_cells_in_html_around_blank_lines_keep_apart() -> None:
    text = "<table>\n<tr><td>a</td><td>b</td></tr>\n\n<tr><th>c</th><th>d</th></tr>\n</table>\n"
    assert " ".join(" ".join(paragraphs(text)).split()) == "a b c d"


def test_spaces_in_entities_make_no_code() -> None:
    assert extract("&nbsp;&nbsp;&nbsp;&nbsp;Or&nbsp;this.\n").text == "Or this.\n"
