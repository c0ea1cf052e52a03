"""The one place that redacts secrets in texts for users and logs.

By context, in any text: user information of URLs, `password=…`, bearer tokens, keys of known form.
By value: the secret settings. A value that could be an ordinary word is redacted only as a whole
word, so that a password such as `documents` does not change `/documents/a.pdf`.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

HIDDEN: Final = "[secret]"

_SECRET_VARIABLES: Final = (
    "DATABASE_URL",
    "INGEST_ADMIN_KEY",
    "INGEST_ADMIN_KEY_PREVIOUS",
    "INGEST_METRICS_TOKEN",
    "INGEST_API_KEY",
    "INGEST_LISTEN_URL",
    "INGEST_SMTP_URL",
    "OPENAI_API_KEY",
    "FIRECRAWL_API_KEY",
    "FIRECRAWL_WEBHOOK_SECRET",
    "PGPASSWORD",
)
# These values are not secret as a whole: only the secrets inside them are redacted.
_URL_VARIABLES: Final = (
    "INGEST_STORAGE",
    "INGEST_URL",
    "OPENAI_BASE_URL",
    "FIRECRAWL_API_URL",
    *(
        name
        for kind in ("http", "https", "all")
        for name in (f"{kind}_proxy", f"{kind}_proxy".upper())
    ),
)

# Shorter secrets are redacted by context only.
_SHORTEST: Final = 6
_LONG: Final = 16
_DENSE: Final = 10
_KINDS: Final = (str.islower, str.isupper, str.isdigit, lambda char: not char.isalnum())

# A word may directly follow a terminal colour code.
_COLOUR: Final = r"(?:\x1b\[\d+m)*"
_BEHIND_COLOUR: Final = r"(?<=\x1b\[\dm)|(?<=\x1b\[\d\dm)"
_START: Final = rf"(?:(?<![\w-])|{_BEHIND_COLOUR})"
_NAMES: Final = (
    r"(?:ssl)?password|passwd|passphrase|pwd|(?:client[-_])?secret|(?:x-)?api[-_]?key|key|"
    r"(?:(?:access|refresh|auth)[-_])?token|ticket|[A-Z0-9_]+_(?:API_?KEY|SECRET|PASSWORD)"
)
_IS: Final = rf"{_COLOUR}\s*=\s*{_COLOUR}"
# A quoted string, possibly without its closing quote, or a word.
_VALUE: Final = (
    r"""(?!\[secret\])(?:'(?:[^'\\]|\\.)*(?:'|$)|"(?:[^"\\]|\\.)*(?:"|$)|"""
    r"""[^\s&;,"'<>)\]}\x1b]+)"""
)
_ASSIGNED: Final = re.compile(rf"({_START}(?:{_NAMES}){_IS})({_VALUE})", re.IGNORECASE)
_CONTEXTS: Final[Sequence[tuple[re.Pattern[str], str]]] = (
    # A password may contain unescaped characters; but `host:port/path` has no password.
    (
        re.compile(
            r"""(//[^\s:/?#@"'<>]{0,500}:)"""
            r"""(?:[^\s/?#"'<>]{0,500}|(?!\d{1,5}[/?#])[^\s"'<>]{0,500})(?=@)""",
        ),
        rf"\1{HIDDEN}",
    ),
    (re.compile(r"""(//)[^\s:/?#@"'<>]{1,500}(?=@)"""), rf"\1{HIDDEN}"),
    (_ASSIGNED, rf"\1{HIDDEN}"),
    (
        re.compile(
            r'("(?:password|secret|api_?key|token|authorization)"\s*:\s*)"(?:[^"\\]|\\.)*"',
            re.IGNORECASE,
        ),
        rf'\1"{HIDDEN}"',
    ),
    (re.compile(r"\b(bearer\s+)[\w.~+/=-]{8,}", re.IGNORECASE), rf"\1{HIDDEN}"),
    (re.compile(r"(authorization\W{1,4}basic\s+)[\w+/=-]+", re.IGNORECASE), rf"\1{HIDDEN}"),
    (re.compile(r"(?<![\w/.-])(?:sk|fc|rk|whsec)[-_](?=\S*\d)[\w+=-]{16,}"), HIDDEN),
)
_AUTHORITY: Final = re.compile(r"^[a-z][a-z0-9+.-]*:/{0,2}(.*)@", re.IGNORECASE | re.DOTALL)


class Redactor:
    """Redacts the given secrets, and by context everything that looks like a secret."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret) if len(form) >= _SHORTEST}
        ordered = sorted(forms, key=len, reverse=True)
        self._secrets = re.compile("|".join(map(_pattern, ordered))) if ordered else None

    def __call__(self, text: str) -> str:
        if self._secrets is not None:
            text = self._secrets.sub(HIDDEN, text)
        for pattern, replacement in _CONTEXTS:
            text = pattern.sub(replacement, text)
        return text


def redact(text: str, *, secrets: Sequence[str] = ()) -> str:
    """The text without secrets: these, those of the environment, and what looks like one."""
    return _of_values(
        (*secrets, *(os.environ.get(name) for name in _SECRET_VARIABLES)),
        tuple(os.environ.get(name) for name in _URL_VARIABLES),
    )(text)


@lru_cache(maxsize=4)
def _of_values(secret: Sequence[str | None], urls: Sequence[str | None]) -> Redactor:
    whole = (part for value in secret if value for part in parts_of(value))
    return Redactor([*whole, *(part for url in urls if url for part in secrets_inside(url))])


def parts_of(secret: str) -> Iterator[str]:
    """A secret setting as a whole, its comma-separated parts, and passwords inside it."""
    yield secret
    yield from (part.strip() for part in secret.split(","))
    yield from secrets_inside(secret)


def secrets_inside(text: str) -> Iterator[str]:
    """Passwords in a URL or keyword=value text, even if malformed; raw and unescaped."""
    authority = _AUTHORITY.match(text.strip())
    if authority is not None:
        user, colon, password = authority.group(1).partition(":")
        # A user name without a password counts only if it is long enough to be a token.
        secret = password if colon else user * (len(user) >= _LONG)
        yield from (secret, unquote(secret))
    for match in _ASSIGNED.finditer(text):
        value = match.group(2)
        yield from (value, unquote(value), re.sub(r"\\(.)", r"\1", value.strip("'\"")))


def _forms(secret: str) -> Iterator[str]:
    """The secret as it is, and as escaped in a JSON string."""
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]


def _pattern(secret: str) -> str:
    kinds = sum(any(map(is_kind, secret)) for is_kind in _KINDS)
    exact = re.escape(secret)
    if len(secret) >= _LONG or (len(secret) >= _DENSE and kinds >= 3):
        return exact
    return rf"(?:(?<![\w/-])(?<!\w\.)|{_BEHIND_COLOUR}){exact}(?![\w/-]|\.\w)"
