"""Builds pools of parser processes from the settings."""

import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ingest.model import OcrSettings
from ingest.providers.ocr import tesseract
from ingest.sandbox.forked import PoolServer
from ingest.sandbox.jail import Confinement
from ingest.sandbox.pool import OnCost, ParserPool
from ingest.settings.settings import Settings


def build_parsers(
    settings: Settings,
    *,
    size: int,
    reserve: int,
    ocr: OcrSettings | None,
    server: PoolServer | None = None,
    on_cost: OnCost | None = None,
) -> ParserPool:
    """Build a pool whose processes may run tesseract if `ocr` says so.

    Without a fork server, which takes 100 MB, it is for files that are read rarely.
    """
    confinement = Confinement(
        mode=settings.sandbox,
        program=ocr_program(ocr),
        readable=(*settings.sandbox_read, *_tokenizer_files(settings)),
        private=_private_folders(settings),
    )
    return _pool(settings, size, confinement, reserve=reserve, server=server, on_cost=on_cost)


def ocr_program(ocr: OcrSettings | None) -> str | None:
    """The program that OCR runs; None: it is a library, or there is none."""
    is_program = ocr is not None and tesseract.PROGRAM in ocr.engine
    return shutil.which(tesseract.PROGRAM) if is_program else None


def build_check(settings: Settings, *, server: PoolServer | None = None) -> ParserPool:
    """Build a pool that only checks the installation (installed_parsers.py).

    It tells which layers of the jail exist, and leaves it to its caller to insist on them.
    """
    confinement = Confinement(
        mode="off" if settings.sandbox == "off" else "auto",
        readable=settings.sandbox_read,
        private=_private_folders(settings),
        after_check=True,
    )
    return _pool(settings, 1, confinement, server=server)


def _pool(
    settings: Settings,
    size: int,
    confinement: Confinement,
    *,
    reserve: int = 0,
    server: PoolServer | None = None,
    on_cost: OnCost | None = None,
) -> ParserPool:
    return ParserPool(
        size=size,
        reserve=reserve,
        on_cost=on_cost,
        server=server,
        timeout=settings.parser_timeout,
        memory=settings.parser_memory,
        formats=settings.formats,
        confinement=confinement,
    )


def _tokenizer_files(settings: Settings) -> tuple[Path, ...]:
    """What counts the tokens of chunks, if it is not in a package."""
    folder = settings.embedding_folder
    return () if folder is None else (folder / "tokenizer.json",)


def _private_folders(settings: Settings) -> tuple[Path, ...]:
    storage = urlsplit(settings.storage or "")
    folders = (settings.data_dir,)
    return (*folders, Path(unquote(storage.path))) if storage.scheme == "file" else folders
