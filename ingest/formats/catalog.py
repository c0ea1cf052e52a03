"""The catalog of formats: lookup by media type, file name suffix or Content-Type header."""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Final

from ingest.errors import SetupError
from ingest.formats import code_languages, unsupported
from ingest.formats import media_types as types
from ingest.formats.declaration import Format
from ingest.settings.extensions import import_extension

_KINDS: Final = {
    "image": "an image",
    "audio": "an audio file",
    "video": "a video",
    "font": "a font",
}

_EXTENSIONS: dict[str, tuple[Format, ...]] = {}
"""The formats of modules outside the service, by module."""


def load_extensions(modules: Sequence[str]) -> None:
    """Add the formats that `modules` declare in `FORMATS`; their suffixes win over built-in ones.

    Raises SetupError if a module cannot be imported or one of its formats cannot be used.
    """
    for name in modules:
        if name in _EXTENSIONS:
            continue
        module = import_extension(name, setting="INGEST_FORMATS")
        declared = getattr(module, "FORMATS", ())
        if not declared or not all(isinstance(format, Format) for format in declared):
            raise SetupError(f"INGEST_FORMATS: {name} has no FORMATS, a tuple of Format")
        for format in declared:
            if format.reader is None:
                raise SetupError(f"INGEST_FORMATS: {name}: {format.media_type} has no reader")
            if find(format.media_type) is not None:
                raise SetupError(f"INGEST_FORMATS: {name}: {format.media_type} is taken")
        _EXTENSIONS[name] = tuple(declared)
        forget()


def forget() -> None:
    """Derive the catalog again from the declarations."""
    for derived in (formats, _by_type, _by_suffix, _by_alias):
        derived.cache_clear()


@cache
def formats() -> tuple[Format, ...]:
    """All formats that the families in this folder declare, by family name; then extensions."""
    here = Path(__file__).parent
    built_in = (
        declared
        for file in sorted(here.glob("*/declaration.py"))
        for declared in import_module(f"{__package__}.{file.parent.name}.declaration").FORMATS
    )
    return (*built_in, *(format for added in _EXTENSIONS.values() for format in added))


@cache
def _by_type() -> MappingProxyType[str, Format]:
    return MappingProxyType({declared.media_type: declared for declared in formats()})


@cache
def _by_suffix() -> MappingProxyType[str, str]:
    found = dict.fromkeys(code_languages.BY_SUFFIX, types.TEXT)
    for declared in formats():
        found.update(dict.fromkeys(declared.suffixes.split(), declared.media_type))
    return MappingProxyType({**unsupported.BY_SUFFIX, **found})


@cache
def _by_alias() -> MappingProxyType[str, str]:
    return MappingProxyType(
        {alias: declared.media_type for declared in formats() for alias in declared.aliases}
    )


def find(media_type: str | None) -> Format | None:
    """Find the format of a media type; None if it can be neither read nor unpacked."""
    return _by_type().get(media_type or "")


def implied_by_name(name: str | None) -> str | None:
    """The media type that a file name suffix implies; None if unknown."""
    return _by_suffix().get(text_suffix(name))


def text_suffix(name: str | None) -> str:
    """The suffix in lower case; of `page.rst.txt`, as Sphinx names its sources, the inner one."""
    path = PurePosixPath((name or "").replace("\\", "/").lower())
    suffix = path.suffix
    if suffix != ".txt" or "." not in path.stem:
        return suffix
    inner = PurePosixPath(path.stem).suffix
    is_source = len(inner) > 1 and inner not in code_languages.BY_SUFFIX
    is_markup = _by_suffix().get(inner) in (types.TEXT, types.MARKDOWN)
    return inner if is_source and is_markup else suffix


def is_text(media_type: str | None) -> bool:
    """Whether the bytes of this type are text."""
    found = find(media_type)
    return found is not None and found.is_text


def is_compressed(media_type: str | None) -> bool:
    """Whether a file of this type is to be read as the file that it holds."""
    found = find(media_type)
    return found is not None and found.is_compressed


def holds_files(media_type: str | None) -> bool:
    """Whether files of this type commonly contain other files."""
    found = find(media_type)
    return found is not None and found.holds_files


def label(media_type: str) -> str:
    """A phrase for the type, with an article: `a PDF`, `an image`."""
    found = find(media_type)
    if found is not None:
        return found.label
    known = unsupported.LABELS.get(media_type)
    return known or _KINDS.get(media_type.split("/")[0], f"a file of type {media_type}")


def format_name(media_type: str) -> str:
    """A short name for lists and metrics: `pdf`, `docx`; `other` for unknown types."""
    found = find(media_type)
    if found is None:
        return "other"
    if not found.suffixes and found.xml_marks:
        return "xml"
    return (found.suffixes or ".other").split()[0].removeprefix(".")


def declared_by_header(content_type: str | None) -> str | None:
    """The media type of a Content-Type header; None if missing, unknown or only `text/plain`."""
    said = (content_type or "").split(";")[0].strip().lower()
    if said in _by_alias():
        return _by_alias()[said]
    if said != types.TEXT and (said in _by_type() or said in unsupported.LABELS):
        return said
    return {"+xml": types.XML, "+json": types.JSON}.get(said[said.rfind("+") :])
