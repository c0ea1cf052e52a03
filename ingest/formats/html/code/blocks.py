"""Code blocks: their lines without numbers, their language, whatever markup stands for them."""

import re
from itertools import islice

from lxml import etree, html

from ingest.formats.html.by_name import ByName
from ingest.formats.html.code.language import language_of_block

_DIGITS = " \t\r\n0123456789"
_NUMBERS = ByName(
    "//*[self::span or self::td or self::a or self::pre or self::div]"
    "[contains(@class, 'lineno') or contains(@class, 'line-number')"
    " or contains(@class, 'linenumber') or contains(concat(' ', @class, ' '), ' gutter ')]"
)
_NUMBER = re.compile(r"[0-9]{1,6}")
_UNSELECTABLE = re.compile(r"user-select\s*:\s*none")  # Hugo without classes
_NUMBER_CLASSES = frozenset({"ln", "line-num", "lnum"})
_TEXT_BLOCKS = ByName(
    "//div[contains(concat(' ', @class, ' '), ' code-block ')][@data-lang][not(.//pre or .//p)]"
)
"""Those of Writerside."""
_CODE_BLOCKS = ByName("//code[contains(concat(' ', @class, ' '), ' block ')][not(ancestor::pre)]")
"""Those of Verso (Lean)."""
_COPY = frozenset({"copy", "copied", "copied!", "copy code", "copy to clipboard", "copy snippet"})
_LONGEST_LABEL = 20  # characters
_FEW = 10  # elements
_NEAR = 3  # elements around a block that may hold its label


def tidy_code(tree: html.HtmlElement, used: str) -> None:
    """Change the page in place. `used`: see by_name.used_names()."""
    for element in _NUMBERS(tree, used):
        if element.getparent() is not None and not element.text_content().strip(_DIGITS):
            _drop_with_cell(element)
    for block in _TEXT_BLOCKS(tree, used):
        block.tag = "pre"
    for code in _CODE_BLOCKS(tree, used):
        block = code.makeelement("pre")
        block.tail, code.tail = code.tail, None
        code.getparent().replace(code, block)
        block.append(code)
        code.text = (code.text or "").lstrip()
    for block in list(tree.iter("xmp", "listing", "plaintext")):
        block.tag = "pre"
    for block in list(tree.iter("pre")):
        _drop_copy_label(block)
        _tidy_block(block)


def _drop_copy_label(block: html.HtmlElement) -> None:
    """Remove the words of a button that copies the block."""
    around = [block, *islice(block.iterancestors("div", "figure"), _NEAR)]
    for element in around:
        for label in (element.getprevious(), element.getnext()):
            if label is not None and label.tag in ("div", "span", "p") and _says_copy(label):
                label.drop_tree()


def _says_copy(label: html.HtmlElement) -> bool:
    said = ""
    if next(islice(label.iter(), _FEW, None), None) is not None:
        return False
    for text in label.itertext():
        said += text.strip().lower()
        if len(said) > _LONGEST_LABEL:
            return False
    return said in _COPY


def _drop_with_cell(number: html.HtmlElement) -> None:
    cell = number.getparent()
    number.drop_tree()
    if cell.tag == "td" and cell.getparent() is not None and not cell.text_content().strip():
        cell.drop_tree()


def _tidy_block(block: html.HtmlElement) -> None:
    if _holds_table(block) or _drop_numbers(block):
        return
    language = language_of_block(block)
    around = next(block.iterancestors("code"), None)
    if around is not None:
        around.tag = "div"
    code = next(block.iter("code"), None)
    if code is None:
        code = _wrap(block)
    code.set("class", f"language-{language}" if language else "")
    for link in block.iter("a"):  # code is shown as it is
        link.attrib.pop("href", None)


def _holds_table(block: html.HtmlElement) -> bool:
    """Whether a table is in the block; not if it has only the code beside numbers (Rouge)."""
    table = next(block.iter("table"), None)
    if table is None:
        return False
    cells = [cell for cell in table.iter("td") if cell.text_content().strip(_DIGITS)]
    if len(cells) != 1:
        return True
    for inner in list(cells[0].iter("pre", "code")):
        inner.drop_tag()
    cells[0].tag = "span"
    table.addprevious(cells[0])
    table.drop_tree()
    return False


def _wrap(block: html.HtmlElement) -> html.HtmlElement:
    code = etree.SubElement(block, "code")
    code.text, block.text = block.text, None
    for child in block[:-1]:
        code.append(child)
    return code


def _drop_numbers(block: html.HtmlElement) -> bool:
    """Remove the numbers of lines in the block, or the block if it is those of the next cell."""
    cell = block.getparent()
    following = None if cell is None or cell.tag != "td" else cell.getnext()
    is_beside_code = following is not None and next(following.iter("pre"), None) is not None
    # Values, such as a status beside its meaning, do not count on.
    if is_beside_code and _count_on(block.text_content().split()):
        cell.drop_tree()
        return True
    for number in list(block.iter("span", "div")):
        is_unselectable = _UNSELECTABLE.search(number.get("style") or "")
        if (is_unselectable or number.get("class") in _NUMBER_CLASSES) and not (
            number.text or ""
        ).strip(_DIGITS):
            number.drop_tree()
    _drop_column(block)
    return False


def _count_on(numbers: list[str]) -> bool:
    first = int(numbers[0]) if len(numbers) > 1 and _NUMBER.fullmatch(numbers[0]) else None
    return first is not None and numbers == [str(first + at) for at in range(len(numbers))]


def _drop_column(block: html.HtmlElement) -> None:
    """Remove numbers that stand in front of each line in a box of their own."""
    lines = [line for line in block.iter("div") if len(line) > 1]
    numbers = [line[0] for line in lines if not len(line[0]) and not (line[0].tail or "").strip()]
    texts = [(number.text or "").strip() for number in numbers]
    if len(numbers) == len(lines) and _count_on(texts):
        for number in numbers:
            number.drop_tree()
