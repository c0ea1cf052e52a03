"""The hostile parser, on a kernel without Landlock."""

import errno

from ingest.sandbox import child, landlock
from tests.servers.hostile_parser import extract

__all__ = ["extract"]  # what the text format of the hostile parser calls in the main module


def landlock_is_missing() -> int:
    raise OSError(errno.ENOSYS, "landlock_create_ruleset: not here")


if __name__ == "__main__":
    vars(landlock)["supported_abi"] = landlock_is_missing
    child.main()
