"""Detects a server that died without a word."""

from collections.abc import Mapping
from typing import Any, Final

from psycopg.conninfo import conninfo_to_dict, make_conninfo

# libpq options to detect a dead server: it must acknowledge sent data, or a probe of an idle
# connection, within half a minute. libpq ignores them for Unix sockets.
_SILENCE: Final[Mapping[str, Any]] = {
    "keepalives_idle": "20",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}


def with_keepalives(dsn: str) -> str:
    """The DSN with TCP timeouts that detect a silently dead server; given options take precedence.

    Without them, if the server's machine is off or a firewall has dropped the connection, sending a
    statement takes 15 minutes to fail, and waiting for a response takes hours.
    """
    silence: dict[str, Any] = {**_SILENCE, **conninfo_to_dict(dsn)}
    return make_conninfo(**silence)
