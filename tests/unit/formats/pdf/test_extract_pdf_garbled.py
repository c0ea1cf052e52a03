"""PDF: text layers that do not say what readers see, and texts that only look like that."""

import base64
import hashlib
import io
import random
from collections.abc import Callable

import pytest

from ingest.errors import Permanent
from ingest.formats.registry import extract as extract_file
from ingest.model import Coverage, Document
from tests.builders.make_pdf import document, lines
from tests.unit.formats.pdf.test_extract_pdf_pictures import Ocr

TEXT = """This agreement is made between the parties and takes effect on the date of it.
Each of them may end the contract at the end of a year, if it says so in writing
before the first of October, and what was paid for the time after it is returned."""
GERMAN = """Der Vertrag wird zwischen den Parteien geschlossen und gilt ab dem Tag der Unterschrift.
Jede von ihnen kann ihn zum Ende des Jahres beenden, wenn sie das vor dem ersten
Oktober mitteilt, und was danach bezahlt wurde, wird mit der Rechnung verrechnet."""
# In languages whose words of grammar are not known.
SWAHILI = """Mkataba huu umefanywa kati ya pande mbili na unaanza kutumika siku ya kutiwa saini.
Kila upande unaweza kuusitisha mwishoni mwa mwaka kwa kutoa taarifa ya maandishi
kabla ya tarehe moja Oktoba na kilicholipwa kwa muda unaofuata kitarudishwa."""
POLISH = """Umowa zostaje zawarta miedzy stronami i wchodzi w zycie z dniem podpisania. Kazda
moze ja wypowiedziec na koniec roku, jezeli zawiadomi o tym na pismie przed pierwszym
pazdziernika, a kwoty zaplacone za czas pozniejszy zostana zwrocone."""
_GLYPHS = {code: index for index, code in enumerate(dict.fromkeys(TEXT + GERMAN), start=33)}
_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /AAAAAA+Sub "


def glyphs(text: str) -> list[bytes]:
    """Codes of a font that counts its glyphs in the order of their use."""
    return [bytes(_GLYPHS[code] for code in row) for row in text.splitlines()]


def page(rows: list[bytes]) -> bytes:
    return b"".join(
        b"BT /X 10 Tf 1 0 0 1 40 %d Tm <%s> Tj ET\n" % (780 - 15 * index, row.hex().encode())
        for index, row in enumerate(rows)
    )


def mapped(text: str, letter: Callable[[str], int]) -> bytes:
    """A PDF whose font maps its codes to other letters than it shows."""
    letters = sorted(set(text) - {"\n"})
    pairs = b"".join(b"<%02x> <%04x>\n" % (ord(code), letter(code)) for code in letters)
    cmap = (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def\n"
        b"1 begincodespacerange <00> <ff> endcodespacerange\n%d beginbfchar\n%bendbfchar\n"
        b"endcmap end end" % (len(letters), pairs)
    )
    return document(
        page([row.encode("latin-1") for row in text.splitlines()]),
        fonts={"X": b"11 0 R"},
        extra=[
            _FONT + b"/ToUnicode 12 0 R >>",
            b"<< /Length %d >>\nstream\n%b\nendstream" % (len(cmap), cmap),
        ],
    )


def named(rows: list[bytes], name: Callable[[int], str]) -> bytes:
    """A PDF whose font has names of its own for its glyphs, and no mapping."""
    codes = sorted(set(b"".join(rows)))
    names = b" ".join(b"%d /%b" % (code, name(code).encode()) for code in codes)
    font = _FONT + b"/Encoding << /Type /Encoding /Differences [%b] >> >>" % names
    return document(page(rows), fonts={"X": b"11 0 R"}, extra=[font])


def moved(places: int) -> Callable[[str], int]:
    return lambda code: ord(code) if code == " " else max(33, ord(code) + places)


def cyrillic(code_page: str) -> bytes:
    text = "Настоящий договор заключен между сторонами и вступает в силу после подписания"
    return document(page([text.encode(code_page)] * 3), fonts={"X": b"3 0 R"})


def partly(letters: str, first: int) -> Callable[[str], int]:
    """As fonts of which some glyphs have letters of another script, and the others their code."""
    return lambda code: (
        ord(code) if code in letters or not code.isalpha() else first + ord(code) % 26
    )


GARBLED = [
    pytest.param(mapped(TEXT, moved(-29)), id="moved by 29"),
    pytest.param(mapped(GERMAN, moved(-29)), id="German moved by 29"),
    pytest.param(mapped(TEXT, moved(1)), id="moved by 1"),
    pytest.param(mapped(TEXT, moved(31)), id="moved to controls"),
    pytest.param(mapped(SWAHILI, moved(-29)), id="Swahili moved by 29"),
    pytest.param(mapped(POLISH, moved(1)), id="Polish moved by 1"),
    pytest.param(mapped(TEXT, lambda code: ord(code) + 3), id="moved with its spaces"),
    pytest.param(mapped(TEXT, lambda code: 0xF000 + ord(code)), id="private use"),
    pytest.param(mapped(TEXT, lambda code: ord("n")), id="one letter"),
    pytest.param(mapped(TEXT, lambda code: 32 if code == " " else ord("n")), id="one, spaces"),
    pytest.param(mapped(TEXT, lambda code: 0xFFFD), id="replacement"),
    pytest.param(mapped(TEXT, lambda code: 0), id="nul"),
    pytest.param(mapped(TEXT, partly("aeiou", 0x0627)), id="Arabic and codes"),
    pytest.param(mapped(GERMAN, partly("rstln", 0x05D0)), id="Hebrew and codes"),
    pytest.param(named(glyphs(TEXT), lambda code: f"G{code:02}"), id="numbers of glyphs"),
    pytest.param(cyrillic("cp1251"), id="code page of Windows"),
    pytest.param(cyrillic("koi8-r"), id="code page of Unix"),
]


def read(data: bytes, ocr: Ocr | None = None) -> Document:
    return extract_file(io.BytesIO(data), name="a.pdf", ocr=ocr)


@pytest.mark.parametrize("data", GARBLED)
def test_garbled_layer_is_read_by_ocr(data: bytes) -> None:
    found = read(data, Ocr())

    assert found.text == "What the scan says"
    assert (found.coverage.by_ocr, found.warnings) == (1, ())


@pytest.mark.parametrize("data", GARBLED)
def test_garbled_layer_without_ocr_is_no_text(data: bytes) -> None:
    with pytest.raises(Permanent) as caught:
        read(data)

    assert caught.value.code == "no_text"
    assert "its fonts do not say which letters they show" in str(caught.value)


@pytest.mark.parametrize("ocr", [None, Ocr("")], ids=["no OCR", "OCR that reads nothing"])
def test_garbled_page_among_others_is_unread_with_a_warning(ocr: Ocr | None) -> None:
    noise = b"BT /F 10 Tf 1 0 0 1 40 700 Tm (%s) Tj ET" % (b"\\001\\002\\003\\004" * 9)

    found = read(document(noise, lines(50, 700, "Text."), lines(50, 700, "More.")), ocr)

    assert found.text.strip() == "Text.\n\nMore."
    assert found.coverage == Coverage(pages=3, with_text=2, empty=0, unread=1, lost=(1,))
    assert {"garbled_text", "pages_unread"} <= set(found.warnings)


def test_a_word_of_doubtful_letters_is_kept_with_a_warning() -> None:
    found = read(mapped("word", lambda code: 0xE000 + ord(code)))

    assert (len(found.text), found.coverage.with_text) == (4, 1)
    assert found.warnings == ("garbled_text",)


def test_letters_that_are_all_mapped_to_spaces_are_read_by_ocr() -> None:
    found = read(mapped(TEXT, lambda code: 32), Ocr())

    assert found.text == "What the scan says"


_SEED = random.Random(7)


def keys(letters: str, length: int) -> list[str]:
    return ["".join(_SEED.choices(letters, k=length)) for _ in range(120)]


def rows(words: list[str], each: int) -> str:
    return "\n".join(" ".join(words[at : at + each]) for at in range(0, len(words), each))


def said(sentence: str) -> str:
    return "\n".join([sentence] * 9)


_PRINTED = "".join(map(chr, range(33, 127)))
READABLE = {
    "serial numbers": rows(keys("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789", 10), 6),
    "part numbers": rows([f"M{n % 9}x{n % 7}0-A{n % 5}K{n % 3}" for n in range(150)], 8),
    "keys": rows(keys(_PRINTED, 12), 5),
    "base64": base64.encodebytes(hashlib.sha512(b"x").digest() * 20).decode(),
    "hashes": "\n".join(hashlib.sha256(bytes([n])).hexdigest() for n in range(30)),
    "code": "\n".join(
        f"for (int i{n} = 0; i{n} < arr[{n}].size(); ++i{n}) {{ sum += *p++ ^ 0x{n:02X}; }}"
        for n in range(30)
    ),
    "regular expressions": rows([r"^\w+@[A-Z0-9.-]+$", "mail", r"[^\s]{2,4}?", "word"] * 15, 4),
    "formulas": rows(["f(x)=ax^2+bx+c", "E=mc^2", "a_1*b_2", "CaCO3+2HCl->CaCl2+H2O"] * 15, 4),
    "chess": rows(["e4", "Nf3", "Bb5", "O-O", "Qxd5+", "Rfe1#", "cxd4"] * 20, 8),
    "Chinese in Latin letters": said("Women jintian qu Beijing kan pengyou ta hen gaoxing"),
    "Russian in Latin letters": said("Nastoyashchiy dogovor vstupaet v silu posle podpisaniya"),
    "Welsh": said("Mae pob un o'r plant yn hoffi chwarae pel droed ar y stryd bob dydd"),
    "Swahili": SWAHILI,
    "Polish": POLISH,
    "a chart of characters": "Table 3: Sparks-Bar-Narrow.otf\n0 1 2 3 4 5 6 7 8 9 A B C D E F\n"
    + "\n".join(
        f"U+F00{n}0 - F00{n}F {', '.join(map(str, range(16 * n - 3, 16 * n + 13)))},"
        for n in range(1, 9)
    ),
    "capitals": TEXT.upper(),
    "DNA": "\n".join("".join(_SEED.choices("ACGT", k=60)) for _ in range(20)),
    "crosses": "\n".join("x x x x x x x x x x x x" for _ in range(12)),
    "Roman numerals": rows(["III", "II", "I", "IV", "XIII"] * 20, 10),
    "dates": "\n".join(f"0{n % 9 + 1}/1{n % 9}/2015 0{n % 8 + 1}/30/2015" for n in range(40)),
    "dotted lines": "\n".join(f"Chapter {n} {'.' * 60} {n}" for n in range(20)),
    "French": said("Élève à l'école où l'été s'achève déjà, là-bas, près des forêts"),
    # Without its figures and signs, each would have more words of grammar: in capitals.
    "matrices": f"{TEXT.splitlines()[0]}\n{rows([str(n % 7) for n in range(60)], 6)}",
    "greetings": "\n".join(["Hello world " * 6] * 12),
}  # fmt: skip


@pytest.mark.parametrize("text", READABLE.values(), ids=READABLE)
@pytest.mark.parametrize("has_mapping", [True, False])
def test_unusual_text_is_not_taken_for_garbled(text: str, *, has_mapping: bool) -> None:
    encoded = [row.encode("cp1252") for row in text.splitlines()]
    by_code = named(encoded, lambda code: f"c{code}")  # as the bitmap fonts of TeX
    ocr = Ocr()

    found = read(document(page(encoded), fonts={"X": b"3 0 R"}) if has_mapping else by_code, ocr)

    assert ocr.sizes == []
    assert found.coverage.unread == 0


@pytest.mark.parametrize(
    "row",
    [
        "Hợp đồng này có hiệu lực kể từ ngày ký, mỗi nhân viên phải báo cáo hư hỏng",
        "Příliš žluťoučký kůň úpěl ďábelské ódy a každý zaměstnanec musí nahlásit závadu",
        "本契約は両当事者の間で締結され署名の日から効力を生じる契約期間は十二か月とする",
        "สัญญานี้ทำขึ้นระหว่างคู่สัญญาทั้งสองฝ่ายและมีผลใช้บังคับตั้งแต่วันที่ลงนาม",
        "이 계약은 양 당사자 간에 체결되며 서명한 날부터 효력이 발생합니다",
        "يعمل الـPDF مع الـWeb في كل مكان ويحفظ النص كما كتبه صاحبه دون تغيير",  # noqa: RUF001
        "∀x∈Φ ∃y: x²+y² ≤ ∑ αᵢβᵢ ∫ f(t)dt → ∞ ≠ ∅ ⊂ Ω",
    ],
)
def test_other_scripts_are_not_taken_for_garbled(row: str) -> None:
    letters = dict(zip(dict.fromkeys(row), range(33, 127), strict=False))
    back = {chr(code): ord(letter) for letter, code in letters.items()}
    codes = "\n".join(["".join(chr(letters[letter]) for letter in row)] * 6)
    ocr = Ocr()

    found = read(mapped(codes, lambda code: back[code]), ocr)

    assert ocr.sizes == []
    assert row.split()[0] in found.text
