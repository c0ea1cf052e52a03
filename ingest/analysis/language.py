"""Detects the language of a text, and stems words by it."""

import threading
from functools import cache
from typing import Final

import Stemmer
from py3langid.langid import MODEL_FILE, LanguageIdentifier

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
    language, probability = load_identifier().classify(text[:READ])
    return str(language) if probability >= _SURE else None


def has_stemmer(language: str | None) -> bool:
    return language in _ALGORITHMS


def stems(words: list[str], language: str) -> list[str]:
    """The stem of each lower-case word, in a language that has a stemmer."""
    found: list[str] = _stemmer(_ALGORITHMS[language]).stemWords(words)
    return found


@cache
def load_identifier() -> LanguageIdentifier:
    """The detector, loaded once per process: half a second and 80 MB."""
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _stemmer(algorithm: str) -> Stemmer.Stemmer:
    """One per thread: a stemmer has state."""
    stemmer = getattr(_local, algorithm, None)
    if stemmer is None:
        stemmer = Stemmer.Stemmer(algorithm)
        setattr(_local, algorithm, stemmer)
    return stemmer
