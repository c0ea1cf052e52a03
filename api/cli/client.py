"""The HTTP client of the commands: finds the service and the key, and reads the answers."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

import httpx

from api.cli import local
from api.cli.output import CommandError

_DEFAULT_URL: Final = "http://127.0.0.1:8000"
_PAGE: Final = 200
# An upload is answered when all its files are durable, which takes long on a slow disk.
_TIMEOUT: Final = httpx.Timeout(300, connect=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """The settings of the client, from the environment."""

    url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    admin_key: str | None = field(default=None, repr=False)
    data_dir: Path = Path("data")

    @classmethod
    def load(cls) -> Self:
        """From INGEST_… variables; an empty one counts as unset.

        Without the service's settings library, which takes half a second to import.
        """
        return cls(
            url=os.environ.get("INGEST_URL") or None,
            api_key=os.environ.get("INGEST_API_KEY") or None,
            admin_key=os.environ.get("INGEST_ADMIN_KEY") or None,
            data_dir=Path(os.environ.get("INGEST_DATA_DIR") or "data"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The URL of the service and the key to send; `key_from`: origin of the key, for messages."""

    url: str
    key: str = field(repr=False)
    key_from: str

    @property
    def is_local(self) -> bool:
        """Whether the service is on this machine, so that no proxy may be used."""
        return urlsplit(self.url).hostname in ("localhost", "127.0.0.1", "::1")


class Unreachable(CommandError):
    """No answer; a retry may succeed."""


class Refused(CommandError):
    """The service answered with an error; `problem` is its problem document, or empty."""

    def __init__(self, message: str, *, status: int, problem: dict[str, Any]) -> None:
        super().__init__(message)
        self.status = status
        self.problem = problem


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # the port is not a number
        return False


def _is_same(url: str, other: str) -> bool:
    """Whether two URLs name the same server; `localhost` counts as 127.0.0.1."""
    first, second = (
        urlsplit(part.replace("//localhost", "//127.0.0.1", 1)) for part in (url, other)
    )
    return (first.scheme, first.netloc) == (second.scheme, second.netloc)


def find_target(settings: ClientSettings | None = None) -> Target:
    """From INGEST_URL and INGEST_API_KEY, else from the data folder.

    The key in the data folder is sent only to the service that owns the folder. Raises
    CommandError when there is no key.
    """
    settings = settings or ClientSettings.load()
    own = local.announced_url(settings.data_dir) or _DEFAULT_URL
    url = settings.url or own
    if not _is_http(url):
        raise CommandError(f"INGEST_URL: {url} is not an http or https URL")
    file = local.key_file(settings.data_dir)
    for origin, key in (
        ("INGEST_API_KEY", settings.api_key),
        ("INGEST_ADMIN_KEY", settings.admin_key),
        (str(file), local.stored_key(settings.data_dir) if _is_same(url, own) else None),
    ):
        if key:
            return Target(url=url.rstrip("/"), key=key, key_from=origin)
    if not _is_same(url, own):
        raise CommandError(
            f"no API key for {url}: set INGEST_API_KEY; the key in {file} is that of {own}"
        )
    raise CommandError(
        f"no API key: set INGEST_API_KEY, or run this where the service was started ({file} is "
        "not there, or not yours to read)"
    )


class Client:
    """Requests to the service. Every method raises Unreachable or Refused with a one-line text."""

    def __init__(self, target: Target, *, transport: httpx.BaseTransport | None = None) -> None:
        self.target = target
        self._http = httpx.Client(
            base_url=target.url,
            headers={"Authorization": f"Bearer {target.key}"},
            timeout=_TIMEOUT,
            trust_env=not target.is_local,
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def get(self, path: str, **query: Any) -> Any:
        """The JSON answer; parameters that are None are left out."""
        params = {name: value for name, value in query.items() if value is not None}
        return self._send(self._http.build_request("GET", path, params=params))

    def post(self, path: str, body: Any) -> Any:
        """Send `body` as JSON; None sends no body."""
        return self._send(self._http.build_request("POST", path, json=body))

    def put(self, path: str, body: Any) -> Any:
        return self._send(self._http.build_request("PUT", path, json=body))

    def delete(self, path: str) -> None:
        self._send(self._http.build_request("DELETE", path))

    def post_stream(self, path: str, content: Iterable[bytes], *, content_type: str) -> Any:
        """Send a body that is generated while it is sent."""
        headers = {"Content-Type": content_type}
        return self._send(self._http.build_request("POST", path, content=content, headers=headers))

    def pages(self, path: str, *, limit: int, **query: Any) -> Iterator[dict[str, Any]]:
        """Up to `limit` items of a list, in as many requests as necessary."""
        cursor = None
        while limit > 0:
            answer = self.get(path, limit=min(limit, _PAGE), cursor=cursor, **query)
            yield from answer["items"]
            limit -= len(answer["items"])
            cursor = answer["nextCursor"]
            if cursor is None:
                return

    def _send(self, request: httpx.Request) -> Any:
        try:
            response = self._http.send(request)
        except httpx.TransportError as error:
            raise Unreachable(self._unreachable(error)) from None
        if response.status_code == httpx.codes.NO_CONTENT:
            return None
        if response.is_success:
            try:
                return response.json()
            except ValueError:
                raise CommandError(f"what answers at {self.target.url} is not this API") from None
        raise self._refused(response)

    def _unreachable(self, error: httpx.TransportError) -> str:
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            return (
                f"nothing answers at {self.target.url}: start it with `ingest serve`, "
                "or set INGEST_URL"
            )
        return f"the connection to {self.target.url} was lost ({type(error).__name__})"

    def _refused(self, response: httpx.Response) -> Refused:
        problem: dict[str, Any] = {}
        if "json" in response.headers.get("content-type", ""):
            content = response.json()
            problem = content if isinstance(content, dict) else {}
        if response.status_code == 401:
            message = f"{self.target.url} refused the key from {self.target.key_from}"
        else:
            message = str(problem.get("detail") or f"{self.target.url} answered {response}")
            errors = problem.get("errors", [])
            fields = [f"{item.get('field')}: {item.get('message')}" for item in errors]
            is_said_there = any(item.get("message") == message for item in errors)
            message = "; ".join(fields if is_said_there else [message, *fields])
        return Refused(message, status=response.status_code, problem=problem)


def open_client() -> Client:
    """A client for the service that the environment or the data folder names."""
    return Client(find_target())
