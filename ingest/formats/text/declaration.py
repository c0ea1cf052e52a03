"""How text and Markdown files are recognised: suffixes and media types."""

from ingest.formats import media_types as types
from ingest.formats.declaration import Format

FORMATS: tuple[Format, ...] = (
    Format(
        media_type=types.TEXT,
        label="a text file",
        suffixes=".txt .text .log .rst .rest .adoc .asciidoc .tex .latex .org .srt .vtt .ass .ssa"
        " .sbv .ics .vcf",
        reader="ingest.formats.text.plain",
        is_text=True,
    ),
    Format(
        media_type=types.MARKDOWN,
        label="a Markdown file",
        suffixes=".md .markdown .mdown .mkd .mkdn .mdx .qmd .rmd",
        reader="ingest.formats.text.plain",
        aliases=("text/x-markdown",),
        is_text=True,
    ),
)
