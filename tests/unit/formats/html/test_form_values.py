"""What readers see in fields, drawings and inner documents of a page."""

import io

import pytest

from ingest.formats.html.fragment import whole_markdown
from ingest.formats.registry import extract

_PROSE = "<p>A person who applied for the job has told us all of this, and a bit more of it.</p>"


def _text(markup: str) -> str:
    page = f"<!doctype html><title>Form</title><h1>Form</h1>{_PROSE}{markup}"
    return extract(io.BytesIO(page.encode()), name="a.html").text


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<label>Country <select><option>Oslo<option selected>Rome</select></label>",
         "Country: Rome"),
        ("<p>Fruit: <select multiple><optgroup label=x><option selected>Fig<option>Pear</optgroup>"
         "<option selected>Kiwi</select></p>", "Fruit: Fig, Kiwi"),
        ("<p>Size <select><option value=''>Choose<option>S<option>M</select> of it</p>",
         "Size S / M of it"),
        ("<label for=n>Name</label> <input id=n value='Ada Lovelace'>", "Name: Ada Lovelace"),
        ("<label for=n><b>Name</b>:</label><input id=n value=Ada>", "**Name**: Ada"),
        ("<p>Take <input type=number value=12>kg of <input value=flour>.</p>",
         "Take 12 kg of flour."),
        ("<table><tr><th>Field<th>Value<tr><td>Plan<td><select><option>Free<option selected>Gold"
         "</select><tr><td>Zip<td><input value=1010></table>",
         "| Plan | Gold |\n| Zip | 1010 |"),
        ("<p><label>Note</label><textarea>Leave it at the door</textarea></p>",
         "Note: Leave it at the door"),
        ("<textarea>one\n  two</textarea>", "```\none\n  two\n```"),
    ],
)  # fmt: skip
def test_fields_hold_values(markup: str, expected: str) -> None:
    assert expected in _text(f"<form>{markup}</form>")


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<textarea>Leave it here</textarea>", "Leave it here"),
        ("<textarea>one\ntwo</textarea>", "```\none\ntwo\n```"),
        ("<select><option>Oslo<option selected>Rome</select>", "Rome"),
        ("<p>Size <select><optgroup label=x><option>S<option>M</optgroup></select> of it</p>",
         "Size S / M of it"),
        ("<label>Note <textarea>Leave it</textarea></label>", "Note: Leave it"),
        ("<label>Name</label><input value=Bob><label>Town</label><input value=Rome>",
         "Name: Bob Town: Rome"),
        ("<label>Name <input value=Bob></label><label>Town <input value=Rome></label>",
         "Name: Bob Town: Rome"),
        ("<span><b><input value=Bob></b></span><span><input value=Rome></span>", "**Bob** Rome"),
        ("<p>Sum <b><input value=5></b>, <i>net</i></p>", "Sum **5**, *net*"),
    ],
)  # fmt: skip
def test_fields_of_messages_hold_values_once(markup: str, expected: str) -> None:
    assert whole_markdown(f"<div>{markup}</div>")[0].strip() == expected


@pytest.mark.parametrize(
    "field",
    [
        "<input type=hidden value=WRONG>",
        "<input type=password value=WRONG>",
        "<input type=submit value=WRONG>",
        "<input type=range value=WRONG>",
        "<input value=WRONG onfocus=clear()>",
        "<input name=q value=WRONG>",
        "<select name=orderby><option selected>WRONG</select>",
        "<select class=language-switch><option selected>WRONG</select>",
        "<select>" + "<option>WRONG" * 21 + "</select>",
        "<select><option>WRONG<option selected>right</select>",
        "<nav><select><option selected>WRONG</select></nav>",
    ],
)
def test_controls_of_the_page_and_secrets_are_no_values(field: str) -> None:
    assert "WRONG" not in _text(f"<div>{field}</div>")


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<svg><text>Revenue 2024</text><g><text>1,250 EUR</text></g></svg>",
         "Revenue 2024; 1,250 EUR"),
        ("<svg aria-label='Data flow'><text><tspan x=1>Worker</tspan><tspan x=1 dy=9>pool</tspan>"
         "</text><foreignObject><div><p>Postgres</p> store</div></foreignObject></svg>",
         "Data flow: Worker pool; Postgres store"),
        ("<svg><text>Co<tspan fill=red>lo</tspan>ur</text></svg>", "Colour"),
        ("<my-card><template shadowrootmode=open><h2><slot name=t>None</slot></h2><p>In shadow</p>"
         "<slot></slot></template><b>Slotted</b><i slot=t>Title</i></my-card>",
         "## *Title*\n\nIn shadow\n\n**Slotted**"),
        ("<iframe srcdoc='&lt;h2&gt;Framed&lt;/h2&gt;&lt;p&gt;words in it&lt;/p&gt;'></iframe>",
         "## Framed\n\nwords in it"),
    ],
)  # fmt: skip
def test_drawings_shadow_roots_and_frames(markup: str, expected: str) -> None:
    assert expected in _text(f"{markup}<p>More words after it.</p>")


@pytest.mark.parametrize(
    "markup",
    [
        "<svg><text>1</text><text>20</text></svg>",
        "<svg aria-hidden=true><text>WRONG</text></svg>",
        "<p><a href=/x><svg><text>WRONG</text></svg> Home</a></p>",
        "<template><p>WRONG</p></template>",
        "<iframe hidden srcdoc='&lt;p&gt;WRONG&lt;/p&gt;'></iframe>",
        "<iframe srcdoc='&lt;script&gt;WRONG&lt;/script&gt;'></iframe>",
    ],
)
def test_what_is_not_shown_or_says_nothing_stays_out(markup: str) -> None:
    text = _text(f"{markup}<p>More words after it.</p>")

    assert "WRONG" not in text
    assert "20" not in text


def test_frames_in_frames_end() -> None:
    markup = "deep"
    for _ in range(6):
        markup = markup.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
        markup = f'<iframe srcdoc="<p>level</p>{markup}"></iframe>'

    text = _text(f"{markup}<p>More words after it.</p>")

    assert text.count("level") == 3
    assert text.endswith("More words after it.\n")


def test_an_unclosed_drawing_does_not_swallow_the_page() -> None:
    text = _text("<svg><text>Label</text><h2>After</h2>" + 3 * _PROSE)

    assert "## After\n\nA person" in text


_SECRET = "A sentence for machines alone, which no reader of this page would ever see."
_SHEET = "<style>.x, #x { display: none }</style>"


def _frame(source: str, attributes: str = "") -> str:
    escaped = source.replace("&", "&amp;").replace('"', "&quot;")
    return f'<iframe {attributes} srcdoc="{escaped}"></iframe>'


@pytest.mark.parametrize(
    "markup",
    [
        _frame(f"{_SHEET}<p class=x>{_SECRET}</p>{_PROSE}{_PROSE}"),
        _frame(_frame(f"{_SHEET}<p class=x>{_SECRET}</p>{_PROSE}{_PROSE}")),
        _frame(_SHEET + _PROSE + _PROSE + _frame(_SECRET, "class=x")),
        _SHEET + _frame(_SECRET, "class=x"),
        _SHEET + _frame(_SECRET, "id=x"),
        _frame(_SECRET, "width=0"),
        _frame(_SECRET, "height='0px'"),
        _frame(_SECRET, "style='width:0;height:0;border:0'"),
        _frame(f"<body style='display:none'>{_SECRET}</body>"),
    ],
)  # fmt: skip
def test_hidden_text_of_frames_is_left_out_and_reported(markup: str) -> None:
    page = f"<!doctype html><title>Form</title><h1>Form</h1>{_PROSE}{_PROSE}{markup}{_PROSE}"
    document = extract(io.BytesIO(page.encode()), name="a.html")

    assert "machines" not in document.text
    assert document.warnings == ("hidden_text",)
    assert whole_markdown(page)[1]


def test_styles_of_a_frame_change_nothing_outside_of_it() -> None:
    frame = _frame(f"<body>{_SHEET}<p>Framed words</p>{_SHEET}</body>")

    text = _text(f"{frame}<p class=x>{_SECRET}</p>")

    assert "Framed words" in text
    assert _SECRET in text


def test_light_text_of_a_dark_frame_is_read() -> None:
    frame = _frame(f"<body style='background:#000'><p style='color:#fff'>{_SECRET}</p></body>")

    assert _SECRET in _text(frame)


@pytest.mark.parametrize("levels", [100, 700, 1_900])
def test_a_deep_frame_loses_no_text(levels: int) -> None:
    deep = "<div>" * levels + "<p>At the bottom</p>" + "</div>" * levels + "<p>Behind it</p>"
    markup = "<div>" * 500 + _frame(deep) + "</div>" * 500

    for text in (_text(markup), whole_markdown(markup)[0]):
        assert "At the bottom" in text
        assert "Behind it" in text


def test_a_host_has_one_shadow_root_with_slots_of_its_own() -> None:
    inner = "<x-b><template shadowrootmode=open>(<slot></slot>)</template><i>inner</i></x-b>"
    text = _text(
        f"<x-a><template shadowrootmode=open><p>First</p>{inner}<slot></slot></template>"
        "<template shadowrootmode=open><p>WRONG</p></template><b>Slotted</b></x-a>"
    )

    assert "WRONG" not in text
    assert "First\n\n(*inner*)\n\n**Slotted**" in text
