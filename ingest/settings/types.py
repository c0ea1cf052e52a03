"""Types of settings: durations, URLs, lists of networks and hosts, tables."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from cronsim import CronSim, CronSimError
from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_settings import NoDecode

from ingest.autoscaling import Table, parse_table
from ingest.quotas import KeyLimits, Quotas, parse


def _seconds(value: Any) -> Any:
    """Accept plain seconds, `20s`, `2m`, `1h` and `30d` as well as ISO 8601 durations."""
    if isinstance(value, str) and value[:1].isdigit():
        unit = {"s": 1, "m": 60, "h": 3600, "d": 86400}.get(value[-1])
        number = value[:-1] if unit else value
        try:
            return timedelta(seconds=float(number) * (unit or 1))
        except ValueError:
            return value
    return value


Duration = Annotated[timedelta, BeforeValidator(_seconds)]
# At least 1 h, in which references to an ended row may still arrive; at most 100 years, which
# Postgres can subtract from now.
KeepFor = Annotated[Duration, Field(ge=timedelta(hours=1), le=timedelta(days=36_500))]


def _cron(value: str) -> str:
    try:
        fires = next(CronSim(value, datetime.now(UTC)), None) is not None
    except CronSimError as error:
        raise ValueError(f"is not a cron expression: {error}") from None
    if not fires:
        raise ValueError("is a cron expression that never fires")
    return value


Cron = Annotated[str, AfterValidator(_cron)]


def http_url(value: str) -> str:
    """Return `value`. Raises ValueError, without quoting it, if it is not an http(s) URL."""
    try:
        parts = urlsplit(value)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # invalid port, as in a URL with a password that contains a slash
        is_valid = False
    if not is_valid or not value.isprintable():
        raise ValueError("must be a URL that starts with http:// or https://")
    return value


HttpUrl = Annotated[str, AfterValidator(http_url)]


def _address(value: str) -> str:
    """Validate an http(s) base URL and strip trailing slashes, so that paths can be appended."""
    parts = urlsplit(http_url(value))
    if parts.query or parts.fragment or parts.username is not None or " " in value:
        raise ValueError("must be a URL without user, query and fragment")
    return value.rstrip("/")


Address = Annotated[str, AfterValidator(_address)]


def _path_prefix(value: str) -> str:
    """Validate the path of a base URL and strip trailing slashes, so that paths can be appended."""
    prefix = value.rstrip("/")
    if not re.fullmatch(r"(/[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)*", prefix) or len(prefix) > 200:
        raise ValueError("must be a path such as /rag, of letters, digits and `-._~`")
    return prefix


PathPrefix = Annotated[str, AfterValidator(_path_prefix)]


def _storage_url(value: str) -> str:
    if not value.startswith(("file:///", "gs://")):
        raise ValueError("must start with file:/// or gs://")
    return value


StorageUrl = Annotated[str, AfterValidator(_storage_url)]

_HOST = re.compile(r"\.?(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


def _networks_and_hosts(value: Any) -> Any:
    """Split at commas; each part is a network, an IP address, a host name or a name suffix."""
    if not isinstance(value, str):
        return value
    entries = tuple(entry.strip().lower() for entry in value.split(",") if entry.strip())
    for entry in entries:
        try:
            ip_network(entry)
        except ValueError as error:
            is_name = _HOST.fullmatch(entry) and not _NUMBER.fullmatch(entry.rpartition(".")[2])
            if not is_name:
                raise ValueError(f"neither a network nor a host name: {error}") from None
    return entries


NetworksAndHosts = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_networks_and_hosts)]


def _module_names(value: Any) -> Any:
    """Split at commas; each part is a dotted module name."""
    if not isinstance(value, str):
        return value
    names = tuple(name.strip() for name in value.split(",") if name.strip())
    for name in names:
        if not _is_module_name(name):
            raise ValueError(f"{name!r} is not the name of a module")
    return names


def _is_module_name(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def _paths(value: Any) -> Any:
    """Split at commas; the paths must be absolute."""
    if not isinstance(value, str):
        return value
    paths = tuple(part.strip() for part in value.split(",") if part.strip())
    for path in paths:
        if not path.startswith("/") or path == "/":
            raise ValueError(f"{path!r} must be an absolute path below /")
    return paths


Paths = Annotated[tuple[Path, ...], NoDecode, BeforeValidator(_paths)]

ModuleNames = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_module_names)]


_EMBEDDERS = ("local", "quantized", "multilingual", "static", "openai", "onnx")


def _embedder_name(value: str) -> str:
    module, _, function = value.partition(":")
    is_own = _is_module_name(module) and function.isidentifier()
    if not is_own and value not in _EMBEDDERS:
        raise ValueError(f"must be {', '.join(_EMBEDDERS)} or module:function")
    return value


EmbedderName = Annotated[str, AfterValidator(_embedder_name)]


@dataclass(frozen=True, slots=True)
class InputTypes:
    """What tells an endpoint whether it embeds questions or passages."""

    field: str
    query: str
    passage: str


def _input_types(value: Any) -> Any:
    """Read `query,document`, or `task=retrieval.query,retrieval.passage` with another field."""
    if not isinstance(value, str):
        return value
    found = _INPUT_TYPES.fullmatch(value)
    if found is None or found["field"] in ("model", "input", "dimensions", "encoding_format"):
        raise ValueError("must be like query,document or task=retrieval.query,retrieval.passage")
    return InputTypes(found["field"] or "input_type", found["query"], found["passage"])


_INPUT_TYPES = re.compile(
    r"(?:(?P<field>\w{1,64})=)?(?P<query>[\w.-]{1,64}),\s*(?P<passage>[\w.-]{1,64})", re.ASCII
)
InputTypePair = Annotated[InputTypes, NoDecode, BeforeValidator(_input_types)]


def _ocr_languages(value: Any) -> Any:
    """Split at commas, plus signs (as tesseract does) and spaces: `deu,eng`, `chi_sim+eng`."""
    if not isinstance(value, str):
        return value
    names = tuple(name for name in re.split(r"[\s,+]+", value) if name)
    for name in names:
        if not re.fullmatch(r"[A-Za-z][A-Za-z_]*(?:/[A-Za-z_]+)?", name):
            raise ValueError(f"{name!r} is not a tesseract language")
    return names


OcrLanguages = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_ocr_languages)]


def _table(value: Any) -> Any:
    return parse_table(value) if isinstance(value, str) else value


ScaleTable = Annotated[Table, NoDecode, BeforeValidator(_table)]


def _quotas(value: Any) -> Any:
    return parse(value, Quotas()) if isinstance(value, str) else value


def _key_limits(value: Any) -> Any:
    return parse(value, KeyLimits()) if isinstance(value, str) else value


QuotaList = Annotated[Quotas, NoDecode, BeforeValidator(_quotas)]
KeyLimitList = Annotated[KeyLimits, NoDecode, BeforeValidator(_key_limits)]
