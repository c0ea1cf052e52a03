"""XML that is broken or made to hurt: encodings, entities, nesting."""

import io
from pathlib import Path

import pytest

from ingest.errors import Permanent
from ingest.formats.registry import extract as extract_file
from ingest.model import Document


def extract(data: str | bytes, name: str = "a.xml") -> Document:
    return extract_file(io.BytesIO(data.encode() if isinstance(data, str) else data), name=name)


def text_of(data: str) -> str:
    return extract(data).text


@pytest.mark.parametrize("encoding", ["euc-jp", "utf-16", "windows-1251", "iso-8859-2"])
def test_the_declared_encoding_is_obeyed(encoding: str) -> None:
    word = {"euc-jp": "日本語", "windows-1251": "Привет", "iso-8859-2": "žluťoučký"}.get(
        encoding, "ü"
    )
    data = f'<?xml version="1.0" encoding="{encoding}"?><a><b><c>{word}</c></b></a>'

    assert extract(data.encode(encoding)).text == f"- b: c: {word}"


def test_names_of_characters_and_single_ampersands_are_understood() -> None:
    document = extract(
        "<a><b>x&nbsp;y &eacute; &unknown; AT&T &#65; &amp;</b><c><![CDATA[&T]]></c></a>"
    )

    assert document.text == "- b: x y é &unknown; AT&T A &\n- c: &T"
    assert document.warnings == ()


@pytest.mark.parametrize("root", ["data", "article"])
def test_entities_of_the_document_are_resolved(root: str) -> None:
    document = extract(
        f'<!DOCTYPE {root} [<!ENTITY who "Ann">]><{root}><p>by &who;</p><p>x</p></{root}>'
    )

    assert "by Ann" in document.text


@pytest.mark.parametrize("root", ["data", "article"])
@pytest.mark.parametrize("kind", ["", "% "])
def test_external_entities_are_not_read(tmp_path: Path, root: str, kind: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("<!ENTITY e 'the secret'>" if kind else "the secret")
    use = f"%{'p'};" if kind else ""
    declared = f'<!ENTITY {kind}{"p" if kind else "e"} SYSTEM "{secret.as_uri()}"> {use}'

    document = extract(f"<!DOCTYPE {root} [{declared}]><{root}><p>before &e; after</p></{root}>")

    assert "before" in document.text
    assert "after" in document.text
    assert "secret" not in document.text


@pytest.mark.parametrize("root", ["data", "article"])
@pytest.mark.parametrize("use", ["<p>&e11;</p>", '<p a="&e11;">x</p>'])
def test_entities_that_multiply_are_refused(root: str, use: str) -> None:
    entities = "".join(f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' for level in range(1, 12))

    with pytest.raises(Permanent) as caught:
        extract(
            f'<!DOCTYPE {root} [<!ENTITY e0 "lol">{entities}]><{root}><p>first</p>{use}</{root}>'
        )

    assert caught.value.code == "corrupt"


def test_undeclared_entity_reference_is_kept() -> None:
    assert text_of('<!DOCTYPE a SYSTEM "a.dtd"><a><b><c>x &chapter1; y</c></b></a>') == (
        "- b: c: x &chapter1; y"
    )


def test_text_before_an_xml_error_is_kept() -> None:
    document = extract("<a><b><c>1</c></b><b><c>2</c>")

    assert document.text == "- b: c: 1\n- b: c: 2"
    assert document.warnings == ("invalid_xml",)


def test_invalid_xml_is_read_as_text() -> None:
    document = extract("no xml & no < tags >", "a.xml")

    assert "no xml & no" in document.text
    assert document.warnings == ("invalid_xml",)


def test_words_dropped_by_the_recovering_parser_are_kept() -> None:
    document = extract("<a><![CDATA[one two <![CDATA[three four")

    assert "one two" in document.text
    assert "three four" in document.text


def test_extremely_nested_elements_are_refused() -> None:
    with pytest.raises(Permanent) as caught:
        extract("<a>" * 10_001 + "word" + "</a>" * 10_001)

    assert caught.value.code == "corrupt"


def test_elements_nested_deeply_are_read() -> None:
    assert text_of("<a>" * 5000 + "word" + "</a>" * 5000).endswith("a: word")


def test_a_document_of_empty_elements_holds_no_text() -> None:
    with pytest.raises(Permanent) as caught:
        extract('<?xml version="1.0"?><a><b/></a>')

    assert caught.value.code == "empty_content"
