"""Deleted text of RTF, which its property says from group to group."""

import io

import pytest

from ingest.formats.registry import extract as extract_file


def text_of(body: str) -> str:
    return extract_file(io.BytesIO(rf"{{\rtf1\ansi \pard {body}}}".encode()), name="a.rtf").text


@pytest.mark.parametrize(
    "deleted",
    [
        r"{\deleted gone }",
        r"{\b\deleted\revauthdel1 gone }",
        r"{\deleted a{\super\chftn}{\footnote \pard\plain {\super\chftn} x}}",
    ],
)
def test_tracked_deletions_of_rtf_are_left_out(deleted: str) -> None:
    assert text_of(r"Kept " + deleted + r"{\deleted0 and }more.\par") == "Kept and more."


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            r"Contract A. \deleted old\deleted0  Payment is due.\par Liability is limited.\par",
            "Contract A. Payment is due.\n\nLiability is limited.",
        ),
        (r"{Contract \deleted1 gone\plain  kept} \deleted old\deleted0 too\par",
         "Contract kept too"),
        (r"{\deleted gone {\b gone} gone}kept\par", "kept"),
        (r"A {\deleted x{y}{\deleted0 kept {\b too}} z} end\par", "A kept **too** end"),
        (r"A {\deleted x{\deleted0 kept {\deleted gone} too} zzz} end\par", "A kept too end"),
        (r"A {\deleted x{\deleted0 kept \deleted gone} zzz} end\par", "A kept end"),
        (r"A {\deleted x{{\deleted0 kept}} z} end\par", "A kept end"),
        (r"A {\deleted x{\b y{\deleted0 kept} w} z} end\par", "A kept end"),
        (r"A {\deleted x{\plain kept} z} end\par", "A kept end"),
        (r"A {\deleted x{\*\note {\plain y}} z}end\par", "A end"),
        (r"A {\deleted x{y {\deleted0 kept}{z}\deleted0  this} z} end\par", "A kept this end"),
        (r"A {{\deleted x} kept \deleted {y} z}end\par", "A kept end"),
    ],
)  # fmt: skip
def test_tracked_deletions_of_rtf_end_where_their_property_does(body: str, text: str) -> None:
    assert text_of(body) == text


def test_notes_of_rtf_within_kept_text_lose_their_deletions_only() -> None:
    note = r"{\footnote \pard\plain a {\deleted gone}b}"
    body = rf"A {{\deleted x{{\deleted0 kept{note} too}} z}} end\par"

    assert text_of(body) == "A kept[^1] too end\n\n[^1]: a b"
