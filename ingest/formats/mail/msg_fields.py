"""Fields shown above the body of an Outlook item: people, times, places, contact details."""

from ingest.formats.mail import headers as mail_headers
from ingest.formats.mail import mime_parts
from ingest.formats.mail.msg_properties import Item

_TRANSPORT_HEADERS = 0x007D
_SUBMITTED, _DELIVERED = 0x0039, 0x0E06
_RECIPIENT_TYPE = 0x0C15
_RECEIVERS = (("To", 1, 0x0E04), ("Cc", 2, 0x0E03))
"""Header field, recipient type, property that lists the names of all."""
_DISPLAY_NAME, _SMTP_ADDRESS, _ADDRESS = 0x3001, 0x39FE, 0x3003
_SENDERS = ((0x0042, 0x5D02, 0x0065), (0x0C1A, 0x5D01, 0x0C1F))
"""Name, SMTP address and address: of the author, then of the sender acting for the author."""
_TIMES = (("Start", 0x820D), ("End", 0x820E), ("Start", 0x8104), ("Due", 0x8105))
_NAMED_TEXTS = (("Location", 0x8208), ("E-mail", 0x8083), ("E-mail", 0x8093), ("Address", 0x801B))
_CONTACT = (
    ("Company", 0x3A16), ("Department", 0x3A18), ("Title", 0x3A17), ("Business phone", 0x3A08),
    ("Mobile phone", 0x3A1C), ("Home phone", 0x3A09), ("Web page", 0x3A51),
)  # fmt: skip
_LONGEST = 2000  # characters, as in mail_headers


Fields = list[tuple[str, str]]
"""Names and values, in display order."""


def fields(item: Item) -> tuple[Fields, Fields]:
    """Header fields of an e-mail (`Date` in ISO 8601), and the item's further fields."""
    headers = mime_parts.parse_bytes(item.text(_TRANSPORT_HEADERS).encode("utf-8", "replace"))
    stated = dict(mail_headers.fields(headers))
    found = [("From", stated.get("From") or _sender(item))]
    for name, kind, together in _RECEIVERS:
        found.append((name, _receivers(item, kind) or item.text(together) or stated.get(name, "")))
    found.append(("Date", stated.get("Date") or item.date(_SUBMITTED) or item.date(_DELIVERED)))
    details = [(name, item.date(item.named(number))) for name, number in _TIMES]
    details += [(name, item.text(item.named(number))) for name, number in _NAMED_TEXTS]
    if item.message_class.startswith("ipm.contact"):
        details += [(name, item.text(number)) for name, number in _CONTACT]
    return _filled(found), _filled(details)


def _filled(found: Fields) -> Fields:
    lines = [(name, " ".join(value.split())[:_LONGEST]) for name, value in found]
    return [(name, value) for name, value in lines if value]


def _sender(item: Item) -> str:
    for name, *addresses in _SENDERS:
        person = _person(item.text(name), *map(item.text, addresses))
        if person:
            return person
    return ""


def _receivers(item: Item, kind: int) -> str:
    people = (
        _person(*map(recipient.text, (_DISPLAY_NAME, _SMTP_ADDRESS, _ADDRESS)))
        for recipient in item.children("__recip")
        if recipient.integer(_RECIPIENT_TYPE) == kind
    )
    listed = ""
    for person in filter(None, people):
        listed += f"{', ' if listed else ''}{person}"
        if len(listed) > _LONGEST:  # the rest would be cut off
            break
    return listed


def _person(name: str, *addresses: str) -> str:
    """Name and the first e-mail address; Exchange addresses are useless outside of Exchange."""
    address = next((found for found in addresses if "@" in found), "")
    if not name or not address or address in name:
        return name or address
    return f"{name} <{address}>"
