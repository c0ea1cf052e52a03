"""`ingest preview FILE`: show how the service would process a file, without storing it."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from api.cli.arguments import JsonDocument
from api.cli.client.http_client import open_client
from api.cli.client.local_files import find_files
from api.cli.output import CommandError, count, join_parts, notes, out, plain, print_json


def preview(
    file: Annotated[Path, typer.Argument(help="One file", show_default=False)],
    *,
    chunks: Annotated[bool, typer.Option("--chunks", help="Print chunks, not the text")] = False,
    ocr: Annotated[bool, typer.Option("--ocr/--no-ocr", help="Recognise text in images")] = True,
    as_json: JsonDocument = False,
) -> None:
    """Show the text of a file as the service would store it; nothing is stored."""
    found = find_files([file]).files
    if file.is_dir() or not found:
        raise CommandError(f"{file} is not a file")
    fields = {"ocr": str(ocr).lower()}
    try:
        with open_client() as client:
            answer = client.post_files("/api/preview", found, fields, part="file")
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from None
    if as_json:
        print_json(answer)
        return
    notes().print(plain(_summary(answer)))
    console = out()
    for line in _chunks(answer) if chunks else map(plain, answer["text"].splitlines()):
        console.print(line)
    if answer["isTruncated"]:
        notes().print("truncated: this is only the beginning")


def _summary(answer: dict[str, Any]) -> str:
    """`text/html · html 1 · 3 chunks · 2 of 3 pages · hidden_text`."""
    coverage = answer["coverage"]
    facts = [
        answer["mediaType"],
        answer["extractor"],
        count(answer["chunkCount"], "chunk"),
        f"{coverage['withText']} of {count(coverage['pages'], 'page')}",
        *answer["warnings"],
    ]
    if answer["attachments"]:
        facts.append(count(len(answer["attachments"]), "attachment"))
    return join_parts(*facts)


def _sections(chunk: dict[str, Any]) -> list[list[str]]:
    """Paths of headings; a service of version 0.1 gives only the first."""
    sections: list[list[str]] = chunk.get("sections", [chunk["headings"]])
    return sections


def _chunks(answer: dict[str, Any]) -> list[Text]:
    lines = []
    for chunk in answer["chunks"]:
        page = "" if chunk["page"] is None else f"  p. {chunk['page']}"
        headings = " · ".join(" > ".join(path) for path in _sections(chunk) if path)
        size = count(chunk["tokenCount"], "token")
        head = plain(f"{chunk['ordinal'] + 1}. {size}{page}  {headings}")
        head.stylize("bold")
        lines += [head, *map(plain, chunk["content"].splitlines()), Text()]
    return lines
