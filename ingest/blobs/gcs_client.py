"""Builds the client of Google Cloud Storage: credentials and connections."""

from typing import Any

import google.auth
from google.auth.credentials import AnonymousCredentials
from google.auth.exceptions import DefaultCredentialsError
from google.auth.transport.requests import AuthorizedSession
from google.cloud.storage import Client
from requests.adapters import HTTPAdapter

from ingest.blobs.gcs import WORKERS
from ingest.errors import SetupError


def connect(*, emulator: str | None) -> Client:
    """A client with the default credentials, or an anonymous one for `emulator` (`host:port`)."""
    if emulator is not None:
        address = emulator if "://" in emulator else f"http://{emulator}"
        anonymous = AnonymousCredentials()  # type: ignore[no-untyped-call]  # library is untyped
        return Client(
            project="emulator",
            credentials=anonymous,
            client_options={"api_endpoint": address},
            _http=_session(anonymous),
        )
    try:
        credentials, project = google.auth.default(scopes=Client.SCOPE)
    except DefaultCredentialsError as error:
        raise SetupError(
            "INGEST_STORAGE: no Google credentials were found; set GOOGLE_APPLICATION_CREDENTIALS"
        ) from error
    return Client(project=project, credentials=credentials, _http=_session(credentials))


def _session(credentials: Any) -> AuthorizedSession:
    """A session that keeps one connection per thread; by default it would keep only ten."""
    session = AuthorizedSession(credentials)  # type: ignore[no-untyped-call]  # library is untyped
    adapter = HTTPAdapter(pool_connections=4, pool_maxsize=WORKERS)
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    return session
