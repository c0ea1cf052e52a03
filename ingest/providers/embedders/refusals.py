"""Turns error responses of an embeddings endpoint into errors with stable codes.

Messages keep the provider's words, which the operator needs, but shortened, and without the key and
texts that they may quote.
"""

import re
import socket
import ssl
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any, Final

import httpx

from ingest.errors import ErrorCode
from ingest.providers.bounded_request import ResponseTooLarge
from ingest.providers.embedders.base import ProviderFault, Refused
from ingest.providers.retry_after import retry_after

_CONTENT_STATUS: Final = frozenset({400, 413, 422})
_PLAIN_CODE: Final = re.compile(r"[A-Za-z0-9_]{1,50}")
_QUOTA_CODES: Final = frozenset(
    {
        "insufficient_quota",
        "insufficient_user_quota",
        "insufficient_balance",
        "billing_hard_limit_reached",
        "billing_not_active",
        "arrearage",
    }
)
_MODEL_CODES: Final = frozenset({"model_not_found", "invalid_model"})
_KEY_CODES: Final = frozenset({"invalid_api_key", "invalid_authentication"})
_BY_STATUS: Final[dict[int, tuple[ErrorCode, str]]] = {
    401: ("embedding_unauthorized", "the API key is not accepted"),
    402: ("embedding_quota", "the account needs credit or payment"),
    403: ("embedding_unauthorized", "the API key has no permission"),
    404: ("embedding_model_missing", "the model or address does not exist"),
    405: ("embedding_model_missing", "the address does not exist"),
    410: ("embedding_model_missing", "the model or address no longer exists"),
}
_MISSING: Final[ErrorCode] = "embedding_model_missing"
_NO_ANSWER: Final[tuple[tuple[type[BaseException], str], ...]] = (
    (socket.gaierror, "its host name cannot be resolved"),
    (ssl.SSLCertVerificationError, "its TLS certificate is not accepted"),
    (ssl.SSLError, "TLS failed; is the address https?"),
    (ResponseTooLarge, "the response is larger than any answer can be"),
    (ConnectionRefusedError, "the connection was refused"),
    (ConnectionResetError, "the connection was closed"),
    (httpx.RemoteProtocolError, "the connection was closed"),
    (httpx.ConnectTimeout, "connecting timed out"),
    (httpx.TimeoutException, "the response timed out"),
)
_LONGEST: Final = 200
_TITLE: Final = re.compile(r"<title[^>]*>(.*?)</title", re.DOTALL | re.IGNORECASE)
# Also matches keys that the provider has masked itself.
_SECRET: Final = re.compile(
    r"(?i:bearer\s+)\S+|\b(?:sk|pk|rk|org|proj|key)[-_][\w*.…-]{6,}|\w*\*{3,}\w*|[\w-]{40,}"
)
# This many consecutive characters of a text in the message count as a quotation.
_QUOTED: Final = 16
# Shorter texts are ordinary words, which a message may use by chance.
_SHORTEST: Final = 5


def refusal(
    response: httpx.Response, *, texts: Sequence[str], key: str, model: str
) -> ProviderFault | Refused:
    """Return the error for a response with an error status."""
    status, wait = response.status_code, retry_after(response.headers)
    code, words = _said(response)
    said = f"HTTP {status}" + (f" ({code})" if code else "")
    known = (code or "").lower()
    is_told_why = known in _QUOTA_CODES | _MODEL_CODES | _KEY_CODES
    if status in _CONTENT_STATUS and not is_told_why:
        return Refused(said)
    quoted = _redacted(words, texts=texts, key=key, model=model)
    said += f": {quoted}" if quoted else ""
    found = _meaning(status, known, response)
    if found is not None:
        return ProviderFault(f"{found[1]}: {said}", code=found[0], status=status)
    if status == 429:
        return _limited(said, wait)
    return ProviderFault(said, code="embedding_unavailable", status=status, retry_after=wait)


def no_answer(error: BaseException) -> ProviderFault:
    """Return the error for a request without a response, by its innermost known cause."""
    said = f"no response ({type(error).__name__})"
    for cause in _causes(error):
        if isinstance(cause, httpx.TooManyRedirects):
            return ProviderFault("the address redirects endlessly", code=_MISSING)
        if isinstance(cause, httpx.UnsupportedProtocol | httpx.InvalidURL):
            return ProviderFault("OPENAI_BASE_URL is not an http(s) address", code=_MISSING)
        found = next((words for kind, words in _NO_ANSWER if isinstance(cause, kind)), None)
        if found is not None:
            said = f"{found} ({type(cause).__name__})"
            break
    return ProviderFault(said, code="embedding_unavailable")


def not_json(response: httpx.Response) -> ProviderFault:
    """Return the error for a response with a success status that is not JSON."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip()
    what = "a web page; is OPENAI_BASE_URL right?" if kind == "text/html" else "cut off?"
    return ProviderFault(
        f"HTTP {response.status_code}, but the response is not JSON ({what})",
        code="embedding_unavailable",
        status=response.status_code,
    )


def _meaning(status: int, code: str, response: httpx.Response) -> tuple[ErrorCode, str] | None:
    if code in _QUOTA_CODES:
        return "embedding_quota", "the quota is used up"
    if code in _MODEL_CODES:
        return _MISSING, "the model does not exist"
    if code in _KEY_CODES:
        return "embedding_unauthorized", "the API key is not accepted"
    moved = [hop for hop in (*response.history, response) if hop.status_code in (301, 302, 303)]
    if moved:
        # For these redirects, httpx repeats the POST as a GET, which no endpoint accepts.
        host = httpx.URL(moved[0].headers.get("location", "")).host
        return _MISSING, f"the address redirects to {host or 'another one'}"
    if 300 <= status < 400:
        return _MISSING, "the address redirects"
    return _BY_STATUS.get(status)


def _limited(said: str, wait: timedelta | None) -> ProviderFault:
    return ProviderFault(
        f"the rate limit was reached: {said}", code="rate_limited", status=429, retry_after=wait
    )


def _said(response: httpx.Response) -> tuple[str | None, str]:
    """The provider's error code, if it has the form of one, and its message."""
    try:
        body: Any = response.json()
    except ValueError:
        title = _TITLE.search(response.text[:10_000])
        return None, title.group(1) if title else ""
    body = body[0] if isinstance(body, list) and body else body
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return None, error if isinstance(error, str) else ""
    words = next((error[name] for name in ("message", "detail") if error.get(name)), "")
    for name in ("code", "type"):
        code = error.get(name)
        # Most types are too broad to be useful.
        if isinstance(code, str) and (name == "code" or code in _QUOTA_CODES):
            return code if _PLAIN_CODE.fullmatch(code) else None, str(words)
    return None, str(words)


def _redacted(words: str, *, texts: Sequence[str], key: str, model: str) -> str:
    """The message on one line, without the key; empty if it quotes a text."""
    line = " ".join(words.split())[:_LONGEST]
    if _quotes(line.replace(model, ""), texts):
        return ""
    if key:
        line = line.replace(key, "[secret]")
    return _SECRET.sub(lambda found: model if found.group() == model else "[secret]", line)


def _quotes(line: str, texts: Sequence[str]) -> bool:
    folded = line.casefold()
    short = (text.strip().casefold() for text in texts if len(text) <= _LONGEST)
    if any(len(text) >= _SHORTEST and text in folded for text in short):
        return True
    everything = "\n".join(" ".join(text.split()) for text in texts).casefold()
    starts = (match.start() for match in re.finditer(r"\b\w", folded))
    return any(
        folded[start : start + _QUOTED] in everything
        for start in starts
        if start + _QUOTED <= len(folded)
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The chain of causes of an error, the innermost first."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    return reversed(chain)
