"""Bytes to text: each step of the ladder but declarations, and what the ledger says."""

# ruff: noqa: RUF001  (the letters of other scripts are the point)

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.formats.encoding.decode import HEAD, decode, is_text, peek
from ingest.model import Encoding

GERMAN = "Die schöne Frau trinkt Kaffee. Das war köstlich, für fünf Euro!"
FRENCH = "L’été était très chaud cette année-là, à la plage."
RUSSIAN = "Это короткий текст для проверки определения кодировки."
UKRAINIAN = "Україна має багато річок і лісів."
CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy."
GREEK = "Αυτό είναι ένα σύντομο κείμενο για δοκιμή."
HEBREW = "זהו טקסט קצר לבדיקה של קידוד."
ARABIC = "هذا نص قصير للاختبار."
THAI = "นี่คือข้อความสั้น ๆ สำหรับทดสอบ"
CHINESE = "这是一个用于测试字符编码检测的简短中文段落。"
TRADITIONAL = "這是一個用於測試字元編碼偵測的簡短中文段落。"
JAPANESE = "これは文字コードの判定を試すための短い文章です。"
KOREAN = "이것은 문자 인코딩 감지를 시험하기 위한 짧은 문장입니다."
KOREAN_WITH_HANJA = "가격(價格)은 시장에서 정하고, 사람들은 신문에서 읽는다. 경제(經濟)는 그렇다."
ITALIAN = "Così è la vita: però più si va avanti, più la città è lontana. Ciò che sarà, sarà."
HUNGARIAN = "A nő gyűrűje a fűben van, őszi délután."
ESTONIAN = "Mõned õpilased sõidavad täna hõlpsasti külla, ütles ema."
POLISH = "Książę wziął łódkę i popłynął, żeby zdążyć przed świtem. "
PRICES = "Entry costs £25 (concessions £12.50), parking £3."


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (GERMAN, "cp1252"),
        (FRENCH, "cp1252"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        (RUSSIAN, "mac_cyrillic"),
        (RUSSIAN, "iso8859_5"),
        ("Цей договір укладено між сторонами, її умови та дії.", "koi8_u"),
        ("Този договор се сключва между страните.", "cp1251"),  # its capital: a quote of a Mac's
        (CZECH, "cp852"),
        ("Piyade Osman Türkçe 1 CD altyazısı http://divxplanet.com", "cp1254"),  # `TŘrkše` in cp852
        (HEBREW, "cp862"),
        ("Räksmörgås på båten, ånga och öl", "mac_roman"),
        (RUSSIAN, "cp855"),
        (UKRAINIAN, "cp1251"),
        (CZECH, "cp1250"),
        (GREEK, "cp1253"),
        (HEBREW, "cp1255"),
        (ARABIC, "cp1256"),
        (ARABIC, "iso8859_6"),
        (THAI, "cp874"),
        (CHINESE, "gb18030"),
        (TRADITIONAL, "big5hkscs"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        (KOREAN, "cp949"),
        (KOREAN, "johab"),
        (ITALIAN, "cp1252"),
        (PRICES, "cp1252"),
        (KOREAN_WITH_HANJA, "cp949"),
        (HUNGARIAN, "cp1250"),
        (HUNGARIAN * 12, "cp1250"),
        (ESTONIAN, "cp1257"),
    ],
)
def test_a_legacy_encoding_is_detected(text: str, codec: str) -> None:
    decoded, encoding = decode(text.encode(codec))

    assert decoded == text
    assert encoding.name == codec
    assert 0 < encoding.confidence <= 1


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("编号,名称\n1,测试", "gb18030"),
        ("你好,世界", "gb18030"),
        ("編號,名稱\n1,測試", "big5hkscs"),
        ("番号,名前\n1,テスト", "cp932"),
        ("번호,이름\n1,시험", "cp949"),
        ("é,ä", "cp1252"),
        ("können\näöüß", "cp1252"),
        ("naïve résumé", "cp1252"),
        ("Привет, мир", "cp1251"),
        ("Привет, мир", "koi8_r"),
        ("Łódź", "cp1250"),
        (
            "Prénom;Ville;Métier\rZoé;Orléans;Ingénieure\rFrançois;Besançon;Pâtissier\rHélène;Nîmes;Élève",
            "mac_roman",
        ),
        ("שלום עולם", "cp1255"),
    ],
)
def test_a_few_words_are_enough_to_detect_an_encoding(text: str, codec: str) -> None:
    decoded, encoding = decode(text.encode(codec))

    assert (decoded, encoding.name) == (text, codec)


@pytest.mark.parametrize(
    ("text", "codec"),
    [(CHINESE, "gb18030"), (JAPANESE, "cp932"), (JAPANESE, "euc_jp"), (KOREAN, "cp949")],
)
def test_a_letter_cut_off_at_the_end_does_not_hide_the_encoding(text: str, codec: str) -> None:
    decoded, encoding = decode((text + text[0]).encode(codec)[:-1])

    assert decoded.startswith(text)
    assert encoding.name == codec


@pytest.mark.parametrize("length", [100, 2000])
def test_polish_text_of_unix_is_not_western(length: int) -> None:
    text = (POLISH * 40)[:length]

    assert decode(text.encode("iso8859_2"))[0] == text


def test_letters_that_only_taiwanese_systems_have_are_read() -> None:
    table = "編號,姓名,部門\n1,王大恒,人事部門\n2,李小明,業務部門\n"

    assert decode(table.encode("cp950"))[0] == table


def test_a_table_of_mac_with_much_ascii_is_not_japanese() -> None:
    names = "Zoé;Orléans;Médecin\nHélène;Besançon;Employée\nFrançois;Évreux;Élève\n"
    table = f"Prénom;Ville;Métier\n{names}"

    for rows in (0, 1, 20):
        text = table + "Paul;Paris;Chef\n" * rows
        assert decode(text.encode("mac_roman"))[0] == text


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_settles_it(codec: str) -> None:
    decoded, encoding = decode(GERMAN.encode(codec))

    assert decoded == GERMAN
    assert encoding.confidence == 1


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ["Hamburgers are delicious.\n", f"{CHINESE}\n{CHINESE}\n"])
def test_wide_text_needs_no_byte_order_mark(text: str, codec: str) -> None:
    decoded, encoding = decode(text.encode(codec))

    assert (decoded, encoding.name) == (text, codec)


@pytest.mark.parametrize("codec", ["utf-32-le", "utf-32-be"])
def test_wide_text_may_hold_letters_beyond_16_bits(codec: str) -> None:
    text = "<p>Gothic: 𐌼𐌰𐌲 𐌲𐌻𐌴𐍃, and 😀</p>\n" * 3

    assert is_text(text.encode(codec))
    assert decode(text.encode(codec))[0] == text


@pytest.mark.parametrize(("text", "codec"), [(JAPANESE, "iso2022_jp"), (KOREAN, "iso2022_kr")])
def test_escape_sequences_of_iso_2022_are_seen(text: str, codec: str) -> None:
    assert is_text(text.encode(codec))
    assert decode(text.encode(codec))[0] == text


def test_binary_data_with_an_escape_sequence_is_not_text() -> None:
    assert not is_text(bytes(range(32)) * 4 + b"\x1b$)C" + bytes(range(32)) * 4)


def test_ebcdic_is_text() -> None:
    data = ("INTELLISTATION POWER provides higher performance than before. " * 4).encode("cp500")

    assert is_text(data)
    assert decode(data)[1].name == "cp500"


def test_utf8_is_certain() -> None:
    assert decode(JAPANESE.encode()) == (JAPANESE, Encoding(name="utf-8", confidence=1.0))


def test_utf8_cut_inside_a_character_is_detected_as_utf8() -> None:
    decoded, encoding = decode("abc é déf €".encode()[:-1])

    assert decoded == "abc é déf \ufffd"
    assert (encoding.name, encoding.replaced) == ("utf-8", 1)


def test_one_invalid_byte_does_not_change_detection_of_long_utf8() -> None:
    decoded, encoding = decode((GERMAN * 10).encode() + b"\xe9\n" + GERMAN.encode())

    assert decoded.startswith(GERMAN)
    assert (encoding.name, encoding.replaced) == ("utf-8", 1)


def test_stray_nul_does_not_imply_utf16() -> None:
    assert decode(b"a\0b")[0] == "a\0b"
    assert decode(b"ab\0cd")[1].name == "utf-8"


def test_undecodable_bytes_are_replaced_and_counted() -> None:
    data = (JAPANESE * 20).encode("cp932")

    decoded, encoding = decode(data[:600] + b"\x81\xff" + data[600:])

    assert encoding.name == "cp932"
    assert encoding.replaced == decoded.count("\ufffd") >= 1
    assert decoded.startswith(JAPANESE)


def test_the_encoding_is_found_far_behind_an_ascii_start() -> None:
    data = b"plain ascii line\n" * 20_000 + JAPANESE.encode("euc_jp")

    assert decode(data)[0].endswith(JAPANESE)


@given(st.binary(max_size=300))
def test_any_bytes_can_be_decoded(data: bytes) -> None:
    decoded, encoding = decode(data)

    assert encoding.replaced <= len(decoded)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff\x1b"), max_size=200))
def test_utf8_round_trips(text: str) -> None:
    assert decode(text.encode())[0] == text


@pytest.mark.parametrize(
    "data", [b"\x7fELF" + bytes(range(256)) * 4, bytes(200), bytes(range(32)) * 10]
)
def test_binary_data_is_not_text(data: bytes) -> None:
    assert not is_text(data)


@pytest.mark.parametrize("codec", ["utf-8", "utf-16-le", "cp932", "euc_jp"])
def test_text_is_text_in_any_encoding(codec: str) -> None:
    assert is_text((JAPANESE * 3 + "\n").encode(codec)[:HEAD])


@pytest.mark.parametrize(
    ("text", "codec"), [(GERMAN, "cp1252"), (RUSSIAN, "cp1251"), (CHINESE, "gb18030")]
)
def test_lines_of_another_encoding_among_utf8_are_read_in_theirs(text: str, codec: str) -> None:
    data = b"\n".join([text.encode(), b"ascii", text.encode(codec), text.encode()] * 2)

    decoded, encoding = decode(data)

    assert decoded == "\n".join([text, "ascii", text, text] * 2)
    assert (encoding.name, encoding.replaced) == ("utf-8", 0)


@pytest.mark.parametrize("codec", ["gb18030", "big5hkscs", "cp932", "cp949", "cp1251", "cp1252"])
def test_long_legacy_text_is_not_detected_as_mixed_encoding(codec: str) -> None:
    text = {"gb18030": CHINESE, "big5hkscs": TRADITIONAL, "cp932": JAPANESE, "cp949": KOREAN}
    line = text.get(codec, RUSSIAN if codec == "cp1251" else GERMAN)

    assert decode("\n".join([line] * 500).encode(codec))[1].name == codec


def test_utf7_is_never_guessed() -> None:
    data = b"+ADw-script+AD4-alert(1)"

    assert decode(data, declared="text/html; charset=utf-7")[0] == data.decode("ascii")


def test_two_lines_of_another_encoding_are_read_in_theirs() -> None:
    text = "größe\n" * 3 + "Straße übel\nÄrger Öl"
    data = ("größe\n" * 3).encode() + "Straße übel\nÄrger Öl".encode("cp1252")

    assert decode(data)[0] == text


def test_early_copyright_sign_does_not_decide_the_encoding() -> None:
    text = "© 2020 " + "x " * 30_000 + RUSSIAN * 3

    assert decode(text.encode("cp1251"))[0] == text


def test_peek_decodes_without_detection() -> None:
    assert peek("<p>Łódź".encode()) == "<p>Łódź"
    assert peek("<p>Łódź".encode("utf-16")) == "<p>Łódź"
    assert peek("<p>Łódź".encode("cp1250")).startswith("<p>")


@pytest.mark.parametrize("rows", [1, 5, 60, 500])
@pytest.mark.parametrize("street", ["Weg", "Straße"])
@pytest.mark.parametrize("amount", ["{},50 €", "€ {}", "{}€"])
def test_a_euro_sign_beside_an_amount_is_western(amount: str, street: str, rows: int) -> None:
    text = f"Nr;{street};Umsatz\r\n" + "".join(f"{i};A;{amount.format(i)}\r\n" for i in range(rows))

    decoded, encoding = decode(text.encode("cp1252"))

    assert decoded == text
    assert encoding.name == "cp1252"
