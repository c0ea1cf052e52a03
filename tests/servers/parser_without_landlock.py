"""The hostile parser, on a kernel without Landlock."""

from ingest.sandbox import child, landlock
from tests.servers.hostile_parser import extract

__all__ = ["extract"]  # what the text format of the hostile parser calls in the main module

if __name__ == "__main__":
    vars(landlock)["supported_abi"] = lambda: None
    child.main()
