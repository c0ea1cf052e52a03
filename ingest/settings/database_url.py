"""Checks DATABASE_URL at start, as libpq reads it, without quoting it in errors."""

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

_ESCAPES = "in a URL, write @ : / ? # % of a password as %40 %3A %2F %3F %23 %25"


def check_database_url(url: str) -> None:
    """Raises ValueError if the URL is invalid, or libpq would split it at the wrong place.

    libpq's errors quote the parts that it cannot read. If a password is not escaped, it reads part
    of the password as host or port. In both cases its error would show the password.
    """
    try:
        options = conninfo_to_dict(url)
    except ProgrammingError:
        raise ValueError(
            f"neither a postgresql:// URL nor a list of keyword=value; {_ESCAPES}"
        ) from None
    hosts = str(options.get("host") or "").split(",")
    ports = str(options.get("port") or "").split(",")
    if any("@" in host and not host.startswith(("/", "@")) for host in hosts):
        raise ValueError(f"the host contains an @; {_ESCAPES}")
    if not all(port == "" or (port.isascii() and port.isdigit()) for port in ports):
        raise ValueError(f"the port is not a number; {_ESCAPES}")
