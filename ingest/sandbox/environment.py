"""The environment variables of a parser process."""

import os
import sys

# Only these variables are inherited: a parser that a file has taken over must find no keys.
_PASSED_ON = (
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH",
    "VIRTUAL_ENV", "PYTHONHOME", "TIKTOKEN_CACHE_DIR", "TESSDATA_PREFIX",
)  # fmt: skip
_SET = {
    "PYTHONUTF8": "1",
    # One thread per process: it reads one file at a time, and each thread takes address space.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "MALLOC_ARENA_MAX": "2",
}


def environment() -> dict[str, str]:
    """A minimal environment, with the parent's module path so that both run the same code."""
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    path = os.pathsep.join(map(os.path.abspath, sys.path))  # "" is the working directory
    return {**passed_on, **_SET, "PYTHONPATH": path}
