"""Detects the language of a text, and stems words by it."""

import io
import lzma
import threading
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import py3langid.langid
import Stemmer
from numpy.typing import NDArray
from py3langid.langid import LanguageIdentifier

_MODEL: Final = Path(py3langid.langid.__file__).parent / py3langid.langid.MODEL_FILE
READ: Final = 4000
"""Characters that detection reads; more would not change its answer."""
_SURE: Final = 0.5
_MEMORY: Final = 6
"""Bytes: after as many, the state of the model's automaton is the same, whatever was before."""
_PART: Final = 8
"""Bytes read one after the other."""
_ALGORITHMS: Final = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
"""Snowball stemmers by ISO 639-1 code."""
_local: Final = threading.local()


def detect(text: str) -> str | None:
    """ISO 639-1 code of the language of a text; None if it is unsure."""
    return _detect(text[:READ])


@lru_cache(maxsize=4)
def _detect(start: str) -> str | None:
    """Cached, because a document's language is asked for by its chunks and by its terms."""
    language, probability = load_identifier().classify(start)
    return str(language) if probability >= _SURE else None


def has_stemmer(language: str | None) -> bool:
    return language in _ALGORITHMS


def stems(words: list[str], language: str) -> list[str]:
    """The stem of each lower-case word, in a language that has a stemmer."""
    found: list[str] = _stemmer(_ALGORITHMS[language]).stemWords(words)
    return found


@cache
def load_identifier() -> LanguageIdentifier:
    """The detector, loaded once per process: half a second and 80 MB.

    Not by its own function, which writes a temporary file of 60 MB: a parser process may not.
    """
    with lzma.open(_MODEL) as packed, np.load(io.BytesIO(packed.read())) as model:
        return _Identifier(
            model["ptc"],
            model["pc"],
            model["classes"].tolist(),
            model["nextmove"],
            model["out_feat"],
            rows=model["nextmove_row"],
        )


class _Identifier(LanguageIdentifier):  # type: ignore[misc]  # untyped library
    """Reads all parts of a text at a time: the library reads byte after byte, in Python.

    Its model is in arrays, of which forked processes share all: counting references to the numbers
    in a list would copy their memory.
    """

    def __init__(self, *model: Any, rows: NDArray[Any]) -> None:
        super().__init__(*model, norm_probs=True, tk_row=())
        self.tk_row = rows
        self._rows = rows.astype(np.intp) << 8

    def _raw_score(self, text: bytes) -> NDArray[Any]:
        features, counts = self._features(text)
        if not features.size:
            return np.asarray(super()._raw_score(b""))
        scores = np.log1p(counts.astype(np.float32)) @ _float32(self.nb_ptc.take(features, axis=0))
        return np.asarray(scores + self.nb_pc)

    def _features(self, text: bytes) -> tuple[NDArray[Any], NDArray[Any]]:
        """Features and how often they occur, in the order of the text: sums of scores depend on it.

        Each part starts with the end of the one before, after which the state is as in the text.
        Zeros before the text leave the first state as it is.
        """
        count = -(-len(text) // _PART)
        padded = np.zeros(_MEMORY + count * _PART, np.uint8)
        padded[_MEMORY : _MEMORY + len(text)] = np.frombuffer(text, np.uint8)
        states = np.empty((count, _PART), np.intp)
        state = np.zeros(count, np.intp)
        for place in range(_MEMORY + _PART):
            moves = self._rows.take(state)
            moves += padded[place::_PART][:count]
            state = self.tk_nextmove.take(moves)
            if place >= _MEMORY:
                states[:, place - _MEMORY] = state
        found = self.tk_output.take(states.ravel()[: len(text)])
        found = found[found >= 0]
        places = np.arange(found.size)
        first = np.empty(len(self.nb_ptc), np.intp)  # place of each feature that occurs
        first[found[::-1]] = places[::-1]  # the last value that is assigned stays
        counts = np.bincount(first[found])
        places = counts.nonzero()[0]
        return found[places], counts[places]


def _float32(halves: NDArray[Any]) -> NDArray[Any]:
    """Finite numbers of 16 bits as 32, by moving their bits: NumPy needs six times as long."""
    bits = halves.view(np.int16).astype(np.int32) << 13
    bits &= ~0x70000000  # copies of the sign
    return bits.view(np.float32) * np.float32(2.0**112)  # the difference of the exponents' biases


def _stemmer(algorithm: str) -> Stemmer.Stemmer:
    """One per thread: a stemmer has state."""
    stemmer = getattr(_local, algorithm, None)
    if stemmer is None:
        stemmer = Stemmer.Stemmer(algorithm)
        setattr(_local, algorithm, stemmer)
    return stemmer
