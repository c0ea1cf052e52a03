"""Measure this project against its peers, and write RESULTS.md.

    python -m benchmarks [NAME ...] [--rounds 3] [--corpus FOLDER] [--cranfield FOLDER]

Without names, all comparisons run, one after the other. With names, only those run; the report
keeps the earlier results of the others. The environments of the peers are created at the first run,
from a package index. Do not use the machine for anything else while it measures.
"""

import argparse
import logging
from importlib import import_module
from pathlib import Path

import structlog

from benchmarks.core.machine import describe
from benchmarks.core.options import Options
from benchmarks.core.postgres import Server, postgres
from benchmarks.core.report import write_report
from benchmarks.core.results import Section, load_sections

NAMES = ("queue", "end_to_end", "provider", "search", "live", "load", "growth")
_HERE = Path(__file__).parent
_ENVIRONMENTS = Path.home() / ".cache" / "rag-ingest" / "benchmarks"


def run(name: str, server: Server, options: Options) -> Section:
    """Run one comparison: the module `comparison` of its folder."""
    section = import_module(f"benchmarks.{name}.comparison").run(server, options)
    assert isinstance(section, Section)
    assert section.name == name
    return section


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--small", action="store_true", help="to see that it runs; writes no report"
    )
    parser.add_argument("--corpus", type=Path, help="real files: PDFs and HTML pages below it")
    parser.add_argument("--cranfield", type=Path, help="the Cranfield collection")
    parser.add_argument(
        "--no-peers", action="store_true", help="only this project and bare scripts"
    )
    parser.add_argument("--environments", type=Path, default=_ENVIRONMENTS, help="of the peers")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(NAMES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    options = Options(
        environments=arguments.environments,
        rounds=1 if arguments.small else arguments.rounds,
        is_small=arguments.small,
        corpus=arguments.corpus,
        cranfield=arguments.cranfield,
        peers=not arguments.no_peers,
    )
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    for name in arguments.names or NAMES:
        print(f"== {name}", flush=True)
        with postgres() as server:
            section = run(name, server, options)
            section.machine = describe(server.version())
        if not options.is_small:
            section.save(_HERE / "results")
            write_report(
                load_sections(_HERE / "results", NAMES),
                file=_HERE / "RESULTS.md",
                pictures=_HERE / "results",
            )


if __name__ == "__main__":
    main()
