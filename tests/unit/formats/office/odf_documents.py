"""OpenDocument files by their content, read."""

import io

from ingest.formats.registry import extract as extract_file
from ingest.model import Document
from tests.builders.make_mail import Kept
from tests.builders.make_office import open_document


def extract(data: bytes, name: str = "a.odt", members: Kept | None = None) -> Document:
    return extract_file(io.BytesIO(data), name=name, members=members)


def text(content: str, *, styles: str = "", masters: str = "") -> str:
    return extract(open_document(content, styles=styles, masters=masters)).text


def framed(content: str, *, kind: str = "", y: str = "0cm", more: str = "") -> str:
    return (
        f'<draw:frame presentation:class="{kind}" svg:y="{y}" {more}>'
        f"<draw:text-box>{content}</draw:text-box></draw:frame>"
    )
