"""Detects formulas without stored results, as in workbooks written by a script."""

import re
import zipfile

from ingest.formats.sheets.limits import blocks

# No part matches beyond the next tag, so the time is linear. Empty text (t="str") is a result.
_UNCALCULATED = re.compile(
    rb"<(?:\w+:)?c(?![^<>]*\st=[\"']str[\"'])(?:\s[^<>]*)?(?<!/)>\s*"
    rb"<(?:\w+:)?f(?:(?:\s[^<>]*)?/>|(?:\s[^<>]*)?>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:</(?:\w+:)?c>|<(?:\w+:)?v\s*(?:/>|></))"
)
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")


def are_uncalculated(package: zipfile.ZipFile) -> bool:
    """Whether an XLSX package has formulas without stored results.

    A formula that is split across two blocks is missed.
    """
    return any(
        _FORMULA.search(data) and _UNCALCULATED.search(data)
        for member in package.infolist()
        if member.filename.lower().startswith("xl/worksheets/")
        for data in blocks(package, member)
    )
