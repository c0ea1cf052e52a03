"""What a run was asked for."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    environments: Path
    """Where the environments of the peers are, made when they are missing."""
    rounds: int = 3
    is_small: bool = False
    """Seconds instead of minutes: to see that all of it runs. Its figures mean nothing."""
    corpus: Path | None = None
    """A folder with real files below it (PDF, HTML); None: what needs it is left out."""
    cranfield: Path | None = None
    """The folder of the Cranfield collection; None: what needs it is left out."""
    peers: bool = True
    """False: only what this project's own environment can run."""
