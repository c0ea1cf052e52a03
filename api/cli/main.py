"""`ingest …`: the commands, and how their errors are reported."""

import functools
import sys
import traceback
from collections.abc import Callable
from typing import Annotated, Final, ParamSpec

import typer

from api.cli import exits
from api.cli.commands import (
    collections,
    crawl,
    evaluate,
    jobs,
    key,
    preview,
    processes,
    reembed,
    search,
    sources,
    upload,
    watch,
    workers,
)
from api.cli.output import CommandError, out, print_error
from ingest.errors import SetupError
from ingest.redaction import redact

P = ParamSpec("P")

_SERVICE: Final = "Run the service"
_USE: Final = "Use the service"

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # its tracebacks would show keys and document text
)
job = typer.Typer(help="Show, retry, cancel, review and delete jobs.", no_args_is_help=True)
app.add_typer(job, name="job", rich_help_panel=_USE)
collection = typer.Typer(help="Make and delete collections.", no_args_is_help=True)
app.add_typer(collection, name="collection", rich_help_panel=_USE)
operator_key = typer.Typer(help="The operator key of the service.", no_args_is_help=True)
app.add_typer(operator_key, name="key", rich_help_panel=_SERVICE)


def _print_version(is_given: bool) -> None:
    if not is_given:
        return
    # Imported here: reading the metadata takes time, and no other command needs it.
    from importlib.metadata import version

    out().print(f"ingest {version('rag-ingest')}")
    raise typer.Exit


@app.callback()
def about(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version and exit",
            callback=_print_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Turn files and web sites into searchable knowledge in Postgres + pgvector."""


def _add(
    panel: str | None,
    command: Callable[P, None],
    *,
    name: str | None = None,
    to: typer.Typer = app,
    hidden: bool = False,
) -> None:
    """Register a command; its errors become one line on standard error and exit code 2.

    `name`: that of the function unless given. `hidden`: not for people.
    """

    @functools.wraps(command)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except (CommandError, SetupError) as error:
            print_error(str(error))
            raise typer.Exit(exits.CANNOT_CONTINUE) from None
        except (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError):
            raise
        except Exception:
            # As the interpreter would print it, but with secrets removed.
            sys.stderr.write(redact(traceback.format_exc()))
            raise typer.Exit(exits.FAILED) from None

    to.command(name, rich_help_panel=panel, hidden=hidden)(guarded)


_add(_SERVICE, processes.serve)
_add(_SERVICE, processes.api)
_add(_SERVICE, processes.worker)
_add(_SERVICE, processes.migrate)
_add(None, processes.worker_process, hidden=True)
_add(None, key.rotate, to=operator_key)
_add(None, key.link, to=operator_key)
_add(_USE, upload.upload)
_add(_USE, preview.preview)
_add(_USE, crawl.crawl)
_add(_USE, crawl.rescrape)
_add(_USE, watch.watch)
_add(_USE, search.search)
_add(_USE, evaluate.evaluate, name="eval")
_add(_USE, sources.sources)
_add(_USE, sources.read_again, name="read-again")
_add(_USE, reembed.reembed)
_add(_USE, collections.collections)
_add(_USE, jobs.jobs)
_add(_USE, sources.delete)
_add(_USE, workers.pause)
_add(_USE, workers.resume)
_add(_USE, jobs.retry_failed)
_add(None, collections.add, to=collection)
_add(None, collections.delete, to=collection)
for command in (jobs.show, jobs.retry, jobs.cancel, jobs.approve, jobs.reject, jobs.delete):
    _add(None, command, to=job)
