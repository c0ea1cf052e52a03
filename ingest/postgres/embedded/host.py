"""Host requirements of the embedded Postgres: an account other than root, a short socket path."""

import hashlib
import os
import pwd
import sys
from dataclasses import dataclass
from pathlib import Path

from ingest.errors import SetupError

SOCKET_NAME = ".s.PGSQL.5432"
_LONGEST_SOCKET = 103  # bytes of sun_path without its NUL: 107 on Linux, 103 on macOS
# /tmp last: cleaners remove links there after ten days, even of a running service.
_LINK_FOLDERS = (Path("/run"), Path("~/.cache"), Path("/tmp"))  # noqa: S108 - owner is checked


@dataclass(frozen=True, slots=True)
class Account:
    """The account that runs the server; -1: the current account."""

    uid: int = -1
    gid: int = -1

    @property
    def is_ours(self) -> bool:
        return self.uid < 0


def server_account(cluster: Path) -> Account:
    """For root: the owner of an existing cluster (if not root), or `nobody`. Otherwise the current
    account."""
    if os.geteuid() != 0:
        return Account()
    if sys.platform != "linux":
        raise SetupError("Postgres refuses to run as root: use another account or set DATABASE_URL")
    if cluster.exists() and cluster.stat().st_uid != 0:
        return Account(cluster.stat().st_uid, cluster.stat().st_gid)
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise SetupError(
            "Postgres refuses to run as root, and there is no account `nobody`: set DATABASE_URL"
        ) from None
    return Account(nobody.pw_uid, nobody.pw_gid)


def give(folder: Path, account: Account) -> None:
    """Make `account` the owner of `folder` and its contents; does nothing unless run as root."""
    if account.is_ours:
        return
    for path in (folder, *folder.rglob("*")):
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


def socket_folder(cluster: Path) -> Path:
    """The folder that clients use to reach the socket in `cluster`.

    This is `cluster` itself, or a link to it if its path is too long for a socket address or holds
    a comma, which libpq reads as a list of hosts. All processes use the same link.
    """
    if _addressable(cluster):
        return cluster
    digest = hashlib.sha256(os.fsencode(cluster)).hexdigest()[:16]
    for folder in _LINK_FOLDERS:
        link = folder.expanduser() / f"rag-ingest-{os.geteuid()}-{digest}"
        if _addressable(link) and _link(link, cluster):
            return link
    raise SetupError(f"the path of {cluster} is too long for a socket: shorten INGEST_DATA_DIR")


def _addressable(folder: Path) -> bool:
    return "," not in str(folder) and len(os.fsencode(folder / SOCKET_NAME)) <= _LONGEST_SOCKET


def _link(link: Path, cluster: Path) -> bool:
    try:
        link.symlink_to(cluster)
    except FileExistsError:
        # In a shared folder an attacker may have created it, to lead us to their server.
        return link.lstat().st_uid == os.geteuid() and Path(os.readlink(link)) == cluster
    except OSError:
        return False
    return True
