"""Calendars and contacts: what people read of them."""

import io

from ingest.formats import registry


def text(data: str, name: str) -> str:
    return registry.extract(io.BytesIO(data.encode()), name=name).text


def test_events_of_a_calendar_are_paragraphs_of_their_fields() -> None:
    data = (
        "BEGIN:VCALENDAR\r\nPRODID:-//x\r\nBEGIN:VEVENT\r\nDTSTART;TZID=Europe/Berlin:20260305T0900"
        "00\r\nSUMMARY:Board meeting\\, quarterly\r\nDESCRIPTION:Agenda: bud\r\n get"
        "\\nand staff\r\n"
        'ATTENDEE;CN="Ann, B":mailto:ann@x.org\r\nEND:VEVENT\r\nBEGIN:VTODO\r\nSUMMARY:Taxes\r\n'
        "DUE:20260531\r\nEND:VTODO\r\nEND:VCALENDAR\r\n"
    )

    assert text(data, "team.ics") == (
        "Start: 2026-03-05T09:00:00\nSummary: Board meeting, quarterly\n"
        "Description: Agenda: budget and staff\nAttendee: Ann, B <ann@x.org>\n\n"
        "Summary: Taxes\nDue: 2026-05-31"
    )


def test_contacts_are_paragraphs_of_their_fields() -> None:
    data = (
        "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada Lovelace\r\nORG:Engines;Research\r\n"
        "item1.TEL;TYPE=WORK,VOICE:+44 1\r\nADR;TYPE=HOME:;;Street 1;London;;W1;UK\r\n"
        "NOTE:Likes maths\\, a\r\n  lot\r\nPHOTO;ENCODING=b:AAAA\r\nEND:VCARD\r\n"
        "BEGIN:VCARD\r\nVERSION:2.1\r\nFN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=BCrgen=\r\n"
        "=20M=C3=BCller\r\nEND:VCARD\r\n"
    )

    assert text(data, "people.vcf") == (
        "Name: Ada Lovelace\nOrganisation: Engines, Research\nTelephone (work): +44 1\n"
        "Address (home): Street 1, London, W1, UK\nNote: Likes maths, a lot\n\nName: Jürgen Müller"
    )


def test_a_calendar_without_events_is_text() -> None:
    data = "BEGIN:VCALENDAR\nPRODID:-//x\nEND:VCALENDAR\n"

    assert text(data, "a.ics") == data
