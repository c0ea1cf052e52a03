"""HTTP client of the commands: finds the service and key, sends requests, reads responses."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, Self, cast
from urllib.parse import urlsplit

import httpx

from api.cli import data_folder
from api.cli.client.local_files import LocalFile
from api.cli.output import CommandError

_DEFAULT_URL: Final = "http://127.0.0.1:8000"
_PAGE_SIZE: Final = 200
# The response to an upload is sent when all files are durable, which takes long on a slow disk.
_TIMEOUT: Final = httpx.Timeout(300, connect=5)
_BINARY: Final = "application/octet-stream"
TEMPORARY: Final = (429, 502, 503, 504)
"""Statuses of too many requests, and of a service that is overloaded or restarts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """The settings of the client, from the environment."""

    url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    admin_key: str | None = field(default=None, repr=False)
    data_dir: Path = Path("data")

    @classmethod
    def load(cls) -> Self:
        """Load the settings from INGEST_… variables; an empty one counts as unset.

        Without the service's settings library, which takes half a second to import.
        """
        return cls(
            url=os.environ.get("INGEST_URL") or None,
            api_key=os.environ.get("INGEST_API_KEY") or None,
            admin_key=os.environ.get("INGEST_ADMIN_KEY") or None,
            data_dir=Path(os.environ.get("INGEST_DATA_DIR") or "data"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAddress:
    """The URL of the service and the key to send; `key_from`: origin of the key, for messages."""

    url: str
    key: str = field(repr=False)
    key_from: str

    @property
    def is_local(self) -> bool:
        """Whether the service is on this machine, so that no proxy may be used."""
        return urlsplit(self.url).hostname in ("localhost", "127.0.0.1", "::1")


class Unreachable(CommandError):
    """No response; a retry may succeed."""

    is_temporary = True


class ServiceError(CommandError):
    """The service responded with an error; `problem` is its problem document, or empty."""

    def __init__(self, message: str, *, status: int, problem: dict[str, Any]) -> None:
        super().__init__(message)
        self.status = status
        self.problem = problem

    @property
    def is_temporary(self) -> bool:
        """Whether a retry may succeed."""
        return self.status in TEMPORARY


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


def find_service(settings: ClientSettings | None = None) -> ServiceAddress:
    """Find the service by INGEST_URL and INGEST_API_KEY, else by the data folder.

    The key in the data folder is sent only to the service that owns the folder. Raises CommandError
    when there is no key.
    """
    settings = settings or ClientSettings.load()
    own = data_folder.announced_url(settings.data_dir) or _DEFAULT_URL
    url = settings.url or own
    if not _is_http(url):
        raise CommandError(f"INGEST_URL: {url} is not an http or https URL")
    file = data_folder.key_file(settings.data_dir)
    for origin, key in (
        ("INGEST_API_KEY", settings.api_key),
        ("INGEST_ADMIN_KEY", settings.admin_key),
        (str(file), data_folder.stored_key(settings.data_dir) if _is_same(url, own) else None),
    ):
        if key:
            return ServiceAddress(url=url.rstrip("/"), key=key, key_from=origin)
    if not _is_same(url, own):
        raise CommandError(
            f"no API key for {url}: set INGEST_API_KEY (the key in {file} belongs to {own})"
        )
    raise CommandError(
        "no API key: set INGEST_API_KEY, or run this command in the folder where the service was "
        f"started ({file} does not exist or cannot be read)"
    )


class _LazyFile:
    """A file that is opened by the first read and closed at its end."""

    def __init__(self, path: Path, opened: ExitStack, on_sent: Callable[[int], None]) -> None:
        """`opened` closes the file if the request fails before its end."""
        self._path = path
        self._opened = opened
        self._on_sent = on_sent
        self._file: BinaryIO | None = None

    def read(self, size: int) -> bytes:
        if self._file is None:
            self._file = self._opened.enter_context(self._path.open("rb"))
        block = self._file.read(size)
        if block:
            self._on_sent(len(block))
        else:
            self._file.close()
        return block


class Client:
    """Requests to the service. Every method raises Unreachable or ServiceError."""

    def __init__(
        self, target: ServiceAddress, *, transport: httpx.BaseTransport | None = None
    ) -> None:
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
        """Return the JSON response; parameters that are None are not sent."""
        params = {name: value for name, value in query.items() if value is not None}
        return self._send(self._http.build_request("GET", path, params=params))

    def find(self, path: str) -> Any:
        """Like `get`, but return None if there is no such object."""
        try:
            return self.get(path)
        except ServiceError as error:
            if error.status != httpx.codes.NOT_FOUND:
                raise
            return None

    def post(self, path: str, body: Any) -> Any:
        """Send `body` as JSON; None sends no body."""
        return self._send(self._http.build_request("POST", path, json=body))

    def put(self, path: str, body: Any) -> Any:
        return self._send(self._http.build_request("PUT", path, json=body))

    def delete(self, path: str) -> None:
        self._send(self._http.build_request("DELETE", path))

    def post_files(
        self,
        path: str,
        files: Iterable[LocalFile],
        fields: Mapping[str, str],
        *,
        part: str = "files",
        on_sent: Callable[[int], None] = lambda _: None,
    ) -> Any:
        """Send a multipart form, with one file open and one block in memory at a time.

        `part`: the name of the form field for files. `on_sent` gets the number of file bytes sent
        since its last call. Raises OSError when a file cannot be read.
        """
        with ExitStack() as opened:
            # httpx only calls `read`. Files that are open already would have a length, but 500 of
            # them are close to the usual limit of a process.
            parts = [
                (part, (file.name, cast(IO[bytes], _LazyFile(file.path, opened, on_sent)), _BINARY))
                for file in files
            ]
            return self._send(self._http.build_request("POST", path, data=fields, files=parts))

    def pages(self, path: str, *, limit: int, **query: Any) -> Iterator[dict[str, Any]]:
        """Up to `limit` items of a list, in as many requests as necessary."""
        cursor = None
        while limit > 0:
            answer = self.get(path, limit=min(limit, _PAGE_SIZE), cursor=cursor, **query)
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
                raise CommandError(f"the server at {self.target.url} is not rag-ingest") from None
        raise self._refused(response)

    def _unreachable(self, error: httpx.TransportError) -> str:
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            return (
                f"cannot connect to {self.target.url}: start the service with `ingest serve`, "
                "or set INGEST_URL"
            )
        return f"the connection to {self.target.url} was lost ({type(error).__name__})"

    def _refused(self, response: httpx.Response) -> ServiceError:
        problem: dict[str, Any] = {}
        if "json" in response.headers.get("content-type", ""):
            content = response.json()
            problem = content if isinstance(content, dict) else {}
        if response.status_code == 401:
            message = f"{self.target.url} rejected the key from {self.target.key_from}"
        else:
            message = str(
                problem.get("detail")
                or f"{self.target.url} responded with status {response.status_code}"
            )
            errors = problem.get("errors", [])
            fields = [f"{item.get('field')}: {item.get('message')}" for item in errors]
            is_repeated = any(item.get("message") == message for item in errors)
            message = "; ".join(fields if is_repeated else [message, *fields])
        return ServiceError(message, status=response.status_code, problem=problem)


def open_client() -> Client:
    """A client for the service that the environment or the data folder names."""
    return Client(find_service())
