"""The language of a text, and stems."""

from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest
from py3langid.langid import LanguageIdentifier

from ingest.analysis.language import READ, detect, has_stemmer, load_identifier, stems


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The pumps are cleaned every week by two people.", "en"),
        ("Die Pumpen werden jede Woche von zwei Leuten gereinigt.", "de"),
        ("Les pompes sont nettoyées chaque semaine par deux personnes.", "fr"),
        ("Насосы чистят каждую неделю два человека.", "ru"),
        ("ポンプは毎週二人で掃除される。", "ja"),
    ],
)
def test_the_language_of_a_sentence(text: str, language: str) -> None:
    assert detect(text) == language


@pytest.mark.parametrize("text", ["", "1234", "a b"])
def test_too_little_to_tell(text: str) -> None:
    assert detect(text) is None


def test_only_the_beginning_is_read() -> None:
    english = "The pumps are cleaned every week by two people. "
    german = "Die Pumpen werden jede Woche von zwei Leuten gereinigt. "

    assert detect(english * (READ // len(english) + 1) + german * READ) == "en"


def test_stemmers_are_those_of_the_language_in_every_thread() -> None:
    assert has_stemmer("de")
    assert not has_stemmer("zh")
    assert not has_stemmer(None)
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda code: stems(["pumpen"], code), ["de", "en", "de"]))
    assert found == [["pump"], ["pumpen"], ["pump"]]


@pytest.mark.parametrize("length", [0, 1, 5, 6, 7, 8, 9, 15, 16, 17, 22, 23, 33, 400, READ])
def test_probabilities_are_those_of_the_library_to_the_last_bit(length: int) -> None:
    ours = load_identifier()
    library = LanguageIdentifier(
        ours.nb_ptc, ours.nb_pc, ours.nb_classes, ours.tk_nextmove, ours.tk_output,
        norm_probs=True, tk_row=ours.tk_row.tolist(),
    )  # fmt: skip
    letters = Random(length)
    texts = [
        ("Die Pumpe läuft: 東京の水、насосы работают, it runs. \ud800\0" * 100)[:length],
        "".join(letters.choices("abcdeo éßаеи東京\n", k=length)),
    ]
    for text in texts:
        assert ours.rank(text) == library.rank(text)
