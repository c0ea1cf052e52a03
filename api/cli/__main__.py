"""`python -m api.cli` is `ingest`."""

from api.cli.main import app

app(prog_name="ingest")
