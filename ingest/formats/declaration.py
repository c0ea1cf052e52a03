"""What a format says about itself: its names, how it is recognised, and who reads it.

A family of formats is a package in this folder whose `declaration.py` has `FORMATS`. Detection,
reading and docs/formats.md derive from it; nothing else names a new format.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One file type. Signatures are looked for in the content; names only settle doubt."""

    media_type: str
    label: str
    """In words, with an article: `a Word document`."""
    suffixes: str = ""
    """Lower-case file name endings, separated by spaces: `.docx .docm`."""
    reader: str | None = None
    """Module with `extract(source: Source) -> Extraction`. None: archives are unpacked instead."""
    aliases: tuple[str, ...] = ()
    """Other content types that senders use for it."""
    is_text: bool = False
    """Its bytes are text: recognised by its name, or by the rules of detect/text.py."""
    is_archive: bool = False
    """A container of files without text of its own."""
    holds_files: bool = False
    """Files inside of it are common."""
    signatures: tuple[bytes | re.Pattern[bytes], ...] = ()
    """What a file begins with, as bytes or as an expression."""
    zip_content_type: re.Pattern[bytes] | None = None
    """What `[Content_Types].xml` of an Office Open XML package says of its main part."""
    zip_parts: tuple[str, ...] = ()
    """Lower-case names of main parts in a ZIP package, any of which is proof."""
    zip_folder: str | None = None
    """Where the parts are, for packages that say nothing else."""
    zip_mimetypes: tuple[str, ...] = ()
    """What the part `mimetype` of an OpenDocument or EPUB says; templates need no entry."""
    ole_streams: tuple[str, ...] = ()
    """Streams of an OLE container, any of which is proof."""
    xml_marks: tuple[str, ...] = ()
    """What the start of an XML document of this format holds, any of which is proof."""
    related: frozenset[str] = frozenset()
    """Media types that a file name may promise although the content is this: no mismatch."""
