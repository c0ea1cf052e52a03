"""Which of tesseract's languages to read a page with: names of its data, by script and language."""

from collections.abc import Iterator, Sequence

MOST_AT_ONCE = 4  # each language makes a page slower, and similar letters more alike
_NO_LANGUAGES = frozenset({"osd", "equ"})  # data files for orientation and formulas
_FIRST = ("eng", "deu", "fra", "spa", "chi_sim", "jpn", "kor", "rus", "ara")
LATIN = "Latin"
# Chinese and Japanese count as scripts of their own; what is not here is written in Latin letters.
_SCRIPTS = {
    "Cyrillic": (
        "rus", "ukr", "bul", "bel", "srp", "mkd", "kaz", "kir", "mon", "tat", "tgk",
        "uzb_cyrl", "aze_cyrl",
    ),
    "Greek": ("ell", "grc"),
    "Arabic": ("ara", "fas", "urd", "pus", "snd", "uig", "kur_ara"),
    "Hebrew": ("heb", "yid"),
    "Devanagari": ("hin", "mar", "nep", "san"),
    "Ethiopic": ("amh", "tir"),
    "Bengali": ("ben", "asm"),
    **{name: (name,) for name in (
        "chi_sim", "chi_tra", "chi_sim_vert", "chi_tra_vert", "jpn", "jpn_vert", "kor", "kor_vert",
        "tha", "tam", "tel", "kan", "mal", "guj", "pan", "ori", "sin", "mya", "khm", "lao", "bod",
        "dzo", "kat", "hye", "chr", "iku", "div", "syr",
    )},
}  # fmt: skip
_SCRIPT = {name: script for script, names in _SCRIPTS.items() for name in names}
_BY_CODE = {
    "af": "afr", "az": "aze", "be": "bel", "bg": "bul", "ca": "cat", "cs": "ces", "cy": "cym",
    "da": "dan", "de": "deu", "el": "ell", "en": "eng", "es": "spa", "et": "est", "eu": "eus",
    "fa": "fas", "fi": "fin", "fr": "fra", "ga": "gle", "gl": "glg", "hr": "hrv", "hu": "hun",
    "id": "ind", "is": "isl", "it": "ita", "kk": "kaz", "lt": "lit", "lv": "lav", "mk": "mkd",
    "mr": "mar", "ms": "msa", "mt": "mlt", "nb": "nor", "ne": "nep", "nl": "nld", "no": "nor",
    "pl": "pol", "pt": "por", "ro": "ron", "ru": "rus", "sk": "slk", "sl": "slv", "sq": "sqi",
    "sr": "srp", "sv": "swe", "sw": "swa", "tr": "tur", "uk": "ukr", "ur": "urd", "vi": "vie",
}  # fmt: skip


def ordered(installed: Sequence[str]) -> tuple[str, ...]:
    """The installed languages, the most common first."""
    there = [name for name in installed if name not in _NO_LANGUAGES and "/" not in name]
    common = [name for name in _FIRST if name in there]
    return (*common, *(name for name in there if name not in common))


def usual(languages: Sequence[str]) -> tuple[str, ...]:
    """Those of `ordered` that a page is first read with."""
    return tuple(languages[:MOST_AT_ONCE])


def by_script(languages: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Languages that are written alike, in groups that can be read at once."""
    groups: dict[str, list[str]] = {}
    for name in languages:
        groups.setdefault(script(name), []).append(name)
    for names in groups.values():
        yield tuple(names[:MOST_AT_ONCE])


def script(language: str) -> str:
    """The script that a language is written in."""
    return _SCRIPT.get(language, LATIN)


def data_of(code: str | None) -> str | None:
    """Tesseract's name of a language by its ISO 639-1 code."""
    return None if code is None else _BY_CODE.get(code)
