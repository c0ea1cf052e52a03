"""Charts that Office documents embed as objects of another program."""

import io
import zipfile

import olefile

from ingest.formats.common import inflate_limit
from ingest.formats.office import graph_97, opendocument_chart
from ingest.formats.office.xml_tree import parse

_GRAPH = "Workbook"
_STAR_CHART = "package_stream"
"""Holds an OpenDocument package."""
_NAMES = [name.encode("utf-16-le") for name in (_GRAPH, _STAR_CHART)]
"""As a container has them: most objects are none, and need not be opened."""


def chart_in(data: bytes) -> str:
    """The chart in an object of Microsoft Graph or LibreOffice as a table; else empty.

    Raises what olefile and zipfile raise for damaged files, and Permanent `too_large` and
    `archive_unsafe`.
    """
    if not data.startswith(olefile.MAGIC) or not any(name in data for name in _NAMES):
        return ""
    with olefile.OleFileIO(io.BytesIO(data)) as ole:
        if ole.exists(_GRAPH):
            return graph_97.chart(ole.openstream(_GRAPH).read())
        package = ole.openstream(_STAR_CHART).read() if ole.exists(_STAR_CHART) else b""
    if not package.startswith(b"PK"):
        return ""
    stream = io.BytesIO(package)
    inflate_limit.guard(stream, inflate_limit.TREES)
    with zipfile.ZipFile(stream) as archive:
        return opendocument_chart.chart(parse(archive.read("content.xml")))
