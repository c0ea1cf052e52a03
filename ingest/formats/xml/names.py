"""Element names of XML document formats: JATS, DocBook, TEI, DITA, FictionBook and similar.

Local names suffice: formats that share a name mean the same by it.
"""

ROOTS = frozenset(
    {"article", "pmc-articleset", "book", "chapter", "section", "refentry", "TEI", "TEI.2"}
    | {"topic", "concept", "task", "reference", "dita", "FictionBook", "nitf", "akomaNtoso"}
)
SECTIONS = frozenset(
    {"sec", "section", "chapter", "article", "part", "appendix", "preface", "simplesect"}
    | {"sect1", "sect2", "sect3", "sect4", "sect5", "refsect1", "refsect2", "refsect3"}
    | {"abstract", "ack", "app", "ref-list", "bibliography", "glossary", "sidebar"}
    | {"boxed-text", "topic", "concept", "task", "reference", "div", "div1", "div2", "div3"}
    | {"fn-group"}
)
TITLES = frozenset({"title", "head", "article-title", "hl1", "heading"})
PARAGRAPHS = frozenset({"p", "para", "simpara", "l", "ab", "shortdesc", "subtitle", "hl2"})
LISTS = frozenset(
    {"list", "itemizedlist", "orderedlist", "variablelist", "simplelist", "ul", "ol", "sl", "dl"}
    | {"def-list", "steps", "listBibl", "kwd-group", "keywordset", "calloutlist"}
)
BOXES = frozenset(
    {"note", "tip", "warning", "caution", "important", "danger", "example", "informalexample"}
    | {"procedure", "formalpara", "blockquote", "qandaset"}
)
"""Their titles are no headings of sections."""
ADMONITIONS = frozenset({"note", "tip", "warning", "caution", "important", "danger"})
TERMS = frozenset({"term", "dt"})
ITEMS = frozenset(
    {"list-item", "listitem", "varlistentry", "member", "li", "sli", "dlentry", "def-item", "item"}
    | {"step", "ref", "biblioentry", "bibl", "biblStruct", "kwd", "keyword", "fn", "contrib", "aff"}
)
TABLES = frozenset({"table", "informaltable", "tgroup", "simpletable"})
TABLE_TEXTS = frozenset({"label", "title", "caption", "desc", "textobject", "info"})
ROWS = frozenset({"tr", "row", "strow", "sthead"})
CELLS = frozenset({"td", "th", "entry", "stentry", "cell"})
CODE = frozenset(
    {"code", "programlisting", "screen", "codeblock", "literallayout", "preformat", "eg", "pre"}
)
CAPTIONED = frozenset(
    {"fig", "table-wrap", "figure", "media", "supplementary-material", "disp-formula", "equation"}
)
BLOCKS = SECTIONS | TITLES | PARAGRAPHS | LISTS | ITEMS | TABLES | CODE | CAPTIONED
INLINE = frozenset(
    {"italic", "bold", "sub", "sup", "b", "i", "u", "em", "strong", "emphasis", "xref", "ext-link"}
    | {"link", "ulink", "uri", "email", "sc", "monospace", "styled-content", "named-content", "tt"}
    | {"underline", "quote", "q", "hi", "subscript", "superscript", "literal", "span", "a", "ph"}
    | {"filename", "command", "code", "codeph", "mi", "mn", "mo", "msub", "msup", "mrow", "mtext"}
    | {"phrase", "foreignphrase", "inline-formula", "abbrev", "acronym", "persName", "placeName"}
)
SKIPPED = frozenset(
    {"tex-math", "annotation", "binary", "graphic", "inline-graphic", "processing-meta"}
    | {"object-id", "journal-id", "issn", "isbn-lp", "x", "indexterm", "custom-meta-group"}
    | {"remark"}
)
"""TeX formulas (repeated in MathML), pictures, and data for machines."""
TECHNICAL = frozenset({"document-info"})
"""Blocks about the file, not the document."""
