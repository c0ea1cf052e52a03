"""`ingest …`: the commands, and how their errors are reported."""

import functools
import sys
import traceback
from collections.abc import Callable
from typing import Annotated, Final, ParamSpec

import typer

from api.cli import control, crawl, jobs, preview, server, show, upload, watch
from api.cli.output import CommandError, print_error
from ingest.errors import SetupError
from ingest.redaction import redact

P = ParamSpec("P")

_CANNOT_GO_ON: Final = 2
_FAULT: Final = 1
_SERVICE: Final = "The service"
_USE: Final = "Using it"

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # its tracebacks would show keys and document text
)
job = typer.Typer(help="Look at processing jobs, and decide about them.", no_args_is_help=True)
app.add_typer(job, name="job", rich_help_panel=_USE)


@app.callback()
def about(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version, and end",
            callback=control.print_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Turns files and web sites into searchable knowledge in Postgres + pgvector."""


def _add(panel: str | None, command: Callable[P, None], *, to: typer.Typer = app) -> None:
    """Register a command; its errors become one line on standard error and exit code 2."""

    @functools.wraps(command)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except (CommandError, SetupError) as error:
            print_error(str(error))
            raise typer.Exit(_CANNOT_GO_ON) from None
        except (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError):
            raise
        except Exception:
            # As the interpreter would print it, but with secrets removed.
            sys.stderr.write(redact(traceback.format_exc()))
            raise typer.Exit(_FAULT) from None

    to.command(rich_help_panel=panel)(guarded)


_add(_SERVICE, server.serve)
_add(_SERVICE, server.api)
_add(_SERVICE, server.worker)
_add(_SERVICE, server.migrate)
_add(_USE, upload.upload)
_add(_USE, preview.preview)
_add(_USE, crawl.crawl)
_add(_USE, crawl.rescrape)
_add(_USE, watch.watch)
_add(_USE, show.search)
_add(_USE, show.sources)
_add(_USE, show.jobs)
_add(_USE, control.delete)
_add(_USE, control.pause)
_add(_USE, control.resume)
_add(_USE, jobs.retry_failed)
for command in (jobs.show, jobs.retry, jobs.cancel, jobs.approve, jobs.reject, jobs.delete):
    _add(None, command, to=job)
