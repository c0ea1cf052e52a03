"""What the fields of a form hold: typed texts and chosen options, behind the labels of fields."""

from lxml import etree, html

from ingest.formats.html.boilerplate import name_words
from ingest.formats.html.text_stats import word_set

_FIELDS = ("input", "select", "textarea")
_TYPED = word_set("text number date datetime-local month week time email tel url")
# Fields that change how the page is shown, not what it says.
_OF_PAGE = word_set(
    "sort sortby order orderby sorting filter lang language languages locale currency perpage"
    " limit theme jump goto archive archives search query q s captcha recaptcha"
)
_PROMPTS = ("onfocus", "onblur")  # their scripts clear a value that only says what to type
_MOST_OPTIONS = 20  # of a list in which nothing is chosen; longer ones are countries, years …
_LONGEST = 5000  # characters
_AROUND = ("label", "span", "b", "strong", "i", "em")
_PUNCTUATION = (":", "\uff1a", "?", "=", "-", "(")


def write_form_values(tree: html.HtmlElement) -> None:
    """Put what each field holds behind it, in place."""
    for field in list(tree.iter(*_FIELDS)):
        if field.getparent() is None or _is_of_page(field):
            continue
        value = _value(field)[:_LONGEST]
        if value.strip():
            _show(field, value)


def _is_of_page(field: html.HtmlElement) -> bool:
    name = (field.get("name") or "").lower()
    return bool(_OF_PAGE & {name, *name_words(field)})


def _value(field: html.HtmlElement) -> str:
    if field.tag == "select":
        return _chosen(field)
    if field.tag == "textarea":
        return str(field.text_content()).strip("\n")
    is_typed = field.get("type", "text").strip().lower() in _TYPED
    is_prompt = any(name in field.attrib for name in _PROMPTS)
    return field.get("value") or "" if is_typed and not is_prompt else ""


def _chosen(field: html.HtmlElement) -> str:
    """The chosen options; if none is, all that one can choose from."""
    options = list(field.iter("option"))
    chosen = [_label(option) for option in options if "selected" in option.attrib]
    if chosen:
        return ", ".join(filter(None, chosen))
    offered = [_label(option) for option in options if option.get("value") != ""]
    return " / ".join(filter(None, offered)) if len(offered) <= _MOST_OPTIONS else ""


def _label(option: html.HtmlElement) -> str:
    return " ".join(option.text_content().split()) or option.get("label") or ""


def _show(field: html.HtmlElement, value: str) -> None:
    is_block = "\n" in value
    shown = etree.Element("pre" if is_block else "span")
    shown.text = value if is_block or _ends_label(field) else f" {value.strip()}"
    is_glued = _is_glued(field)
    shown.tail, field.tail = field.tail, None
    if not is_block and is_glued:
        shown.tail = f" {shown.tail or ''}"
    field.addnext(shown)
    field.text = None
    del field[:]  # the converter would write what it holds once more


def _is_glued(field: html.HtmlElement) -> bool:
    """Whether a word or another element follows without a space."""
    element = field
    while not element.tail and element.getnext() is None:
        element = element.getparent()
        if element is None or element.tag not in _AROUND:
            return False
    return (element.tail or "a")[0].isalnum()


def _ends_label(field: html.HtmlElement) -> bool:
    """Put a colon behind the label of the field; whether it has one, or begins its block."""
    label, parent = field.getprevious(), field.getparent()
    before = (parent.text if label is None else label.tail) or ""
    if label is None:
        if parent.tag != "label" or not before.strip():
            return not before.strip()
        parent.text = _with_colon(before)
        return True
    if label.tag != "label" or before.strip() or next(label.iter(*_FIELDS), None) is not None:
        return False
    if len(label):
        label[-1].tail = _with_colon(label[-1].tail or "")
    else:
        label.text = _with_colon(label.text or "")
    label.tail = None
    return True


def _with_colon(label: str) -> str:
    return f"{label.rstrip()} " if label.rstrip().endswith(_PUNCTUATION) else f"{label.rstrip()}: "
