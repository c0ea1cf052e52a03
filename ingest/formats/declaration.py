"""The declaration of a file format: how it is recognised, and which module reads it.

A family of formats is a package in this folder whose `declaration.py` defines `FORMATS`.
Detection, reading and docs/formats.md derive from it; a new format needs no other entry.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One file type. Detection relies on the content; names only break ties."""

    media_type: str
    label: str
    """Phrase with an article: `a Word document`."""
    suffixes: str = ""
    """Lower-case file name suffixes, separated by spaces: `.docx .docm`."""
    reader: str | None = None
    """Module with `extract(source: Source) -> Extraction`. None: archives and compressed files."""
    viewer: str | None = None
    """Module that shows its pages (common/page_view.py). None: there is no picture of a page."""
    aliases: tuple[str, ...] = ()
    """Other content types that senders use for it."""
    is_text: bool = False
    """The bytes are text. If no signature matches, file name and rules of detect/text.py decide."""
    is_archive: bool = False
    """A container of files that has no text itself."""
    is_compressed: bool = False
    """One compressed file, read as what it holds (archives/compressed.py)."""
    holds_files: bool = False
    """Commonly contains other files."""
    signatures: tuple[bytes | re.Pattern[bytes], ...] = ()
    """Start of a file, literal or as a regular expression; before decoding. Wins over the name."""
    zip_content_type: re.Pattern[bytes] | None = None
    """Matches the content type of the main part in `[Content_Types].xml` (Office Open XML)."""
    zip_parts: tuple[str, ...] = ()
    """Lower-case names of main parts in a ZIP package; any one identifies the format."""
    zip_folder: str | None = None
    """Folder of the parts; decides if content types and main parts do not."""
    zip_mimetypes: tuple[str, ...] = ()
    """Content of the `mimetype` part (OpenDocument, EPUB); templates need no entry."""
    ole_streams: tuple[str, ...] = ()
    """Streams of an OLE container; any one identifies the format."""
    xml_marks: tuple[str, ...] = ()
    """Strings at the start of an XML document; any one identifies the format."""
    related: frozenset[str] = frozenset()
    """Media types that a file name may imply for this content without a mismatch. Mutual."""
