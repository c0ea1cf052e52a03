"""Detects the language of a text, and stems words by it."""

import io
import lzma
import threading
from array import array
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
        return LanguageIdentifier(
            model["ptc"],
            model["pc"],
            model["classes"].tolist(),
            _array(model["nextmove"]),
            model["out_feat"].tolist(),
            norm_probs=True,
            tk_row=_array(model["nextmove_row"]),
        )


def _array(numbers: NDArray[Any]) -> "array[int]":
    """As an array of the standard library, whose items are read faster one by one."""
    return array("H" if numbers.itemsize == 2 else "I", numbers.tobytes())


def _stemmer(algorithm: str) -> Stemmer.Stemmer:
    """One per thread: a stemmer has state."""
    stemmer = getattr(_local, algorithm, None)
    if stemmer is None:
        stemmer = Stemmer.Stemmer(algorithm)
        setattr(_local, algorithm, stemmer)
    return stemmer
