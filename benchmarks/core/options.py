"""The options of a run."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    environments: Path
    """Folder of the peers' environments, which are created if missing."""
    rounds: int = 3
    is_small: bool = False
    """Run for seconds instead of minutes, only to test that everything works. The figures mean
    nothing.
    """
    corpus: Path | None = None
    """A folder with real files (PDF, HTML) at any depth; None: skip what needs them."""
    cranfield: Path | None = None
    """The folder of the Cranfield collection; None: skip what needs it."""
    peers: bool = True
    """False: run only what this project's own environment can run."""
