"""Encodings of DOS and Unix, and short texts whose language tells the encoding."""

# ruff: noqa: RUF001  (the letters of other scripts are the point)

import pytest

from ingest.formats.encoding.decode import decode

VIETNAMESE = (
    "Hô\u0323i nghi\u0323 se\u0303 bă\u0301t đâ\u0300u vào thư\u0301 hai, các đa\u0323i biê\u0309u"
    " đa\u0303 có mă\u0323t ơ\u0309 đây."
)
"""As cp1258 writes it, with the tones behind their letters."""


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("Άνθρωποι και Άλλοι ήρθαν στην πόλη.", "iso8859_7"),
        ("Άνθρωποι και Άλλοι ήρθαν στην πόλη.", "cp1253"),
        ("Αυτό είναι ένα σύντομο κείμενο για δοκιμή.", "cp737"),
        ("Ağaçların gölgesinde öğle uykusuna yatmış, çok yorulmuştu.", "cp857"),
        ("Jūsų laiškas gautas, ačiū, atsakysime kitą savaitę, iš pradžių.", "cp775"),
        (VIETNAMESE, "cp1258"),
    ],
)
def test_older_encodings_are_detected(text: str, codec: str) -> None:
    decoded, encoding = decode(text.encode(codec))

    assert (decoded, encoding.name) == (text, codec)


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("Nie piszę, nic nie powiem.", "cp1250"),
        ("Kobieta w czarnym kostiumie kąpielowym zjeżdża z fioletowej zjeżdżalni.", "cp1250"),
        ("Az intézkedés a tervek szerint október 1-jétől lép életbe.", "cp1250"),
        ("Ca poetă, este dificil de alăturat unei grupări sau unei alte.", "cp1250"),
        ("Vakar Seimas vargais negalais priėmė į vėlyvą vakarą nustumtą naują įstatymą.", "cp1257"),
        ("Piemēram, naktīs, kad ne tikvien mēness piesprausts pie debesu samta.", "cp1257"),
        ("Men ingeniør blir nok ikke Espen med det første.", "cp1252"),
        ("Zichtbaar geëmotioneerd en lijkbleek legde hij het in het boek.", "cp1252"),
        ("Successivamente, con le medesime modalità, verranno esaminate le altre.", "mac_roman"),
        ("Kimisi kot pantolonunu giymiş, çok güzel.", "cp1254"),
    ],
)
def test_the_language_of_a_sentence_tells_its_encoding(text: str, codec: str) -> None:
    assert decode(text.encode(codec))[0] == text


ENGLISH = (
    "The committee met on Monday and agreed on the plan for the new bridge. It will be built next"
    " year, and the town pays for it. "
)


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("It’s best to wash the dogs first; don’t hurry.", "mac_roman"),
        (ENGLISH + "“Quoted” – and so on…", "mac_roman"),
        (ENGLISH + "“Quoted” – and so on…", "cp1252"),
        ("They met in a small café near the station, which was closed.", "mac_roman"),
        (ENGLISH + "The word is Москва there.", "iso8859_5"),
        (ENGLISH + "The word is Москва there.", "koi8_r"),
        (ENGLISH + "The word is 中文的 there.", "gb18030"),
    ],
)
def test_a_few_letters_in_english_are_quotes_and_names_of_all_scripts(
    text: str, codec: str
) -> None:
    assert decode(text.encode(codec))[0] == text
