"""Where sentences end, by language."""

import pytest

from ingest.chunking.sentences import Sentences
from tests.support.chunk_checks import chunks_of, cut


def sentences(text: str) -> list[str]:
    """The text cut at its sentence ends."""
    finder, start, found = Sentences(text), 0, []
    while (end := finder.first_end(start, len(text))) is not None:
        found.append(text[start:end].strip())
        start = end
    return [*found, text[start:].strip()]


GERMAN = "Das Schreiben liegt in der Akte des Gerichts und wird dort geprüft. "
ENGLISH = "The letter is in the file of the court and will be checked there. "


@pytest.mark.parametrize(
    ("parts"),
    [
        [GERMAN.strip(), "Herr Dr. Kranz kommt am 3. März, z. B. um acht.", "Er geht bald."],
        [GERMAN.strip(), "Siehe Nr. 5 und Bd. 2 S. 12 der Akte.", "Ende."],
        [
            GERMAN.strip(),
            "Die Fa. Nord GmbH i. G. zahlt, d. h. Herr Prof. Dr. h. c. Ott zahlt.",
            "So.",
        ],
        [GERMAN.strip(), "Am 2. Tag kamen ca. Elf, u. a. Herr Ott.", "Der 1. Weltkrieg begann."],
        [
            ENGLISH.strip(),
            "Mr. and Mrs. Fox met J. R. R. Tolkien at No. 5 St. James.",
            "They left.",
        ],
        [
            ENGLISH.strip(),
            "See Fig. 3 and e.g. Table 2, cf. Sec. 4.",
            "He said no.",
            "Then he left.",
        ],
        [ENGLISH.strip(), "He works for the U.S. Navy, i.e. Dr. Who of Washington.", "Done."],
        [ENGLISH.strip(), "It costs 3.5 million.", "We have 3.", "You have none."],
        [ENGLISH.strip(), 'She said: "It is over."', "He agreed (at last.)", "So it ended..."],
        [
            "Le dossier est dans les archives du tribunal et sera bientôt examiné par le juge.",
            "M. Dupont et Mme. Durand habitent av. Foch, cf. p. 12 du vol. 3.",
            "Ils partent.",
        ],
        [
            "El expediente está en los archivos del tribunal y será examinado pronto por el juez.",
            "El Sr. Ruiz y la Dra. Gil viven en la Avda. Goya, pág. 12.",
            "Dijo que no.",
            "Luego se fue.",
        ],
        [
            "Il fascicolo si trova negli archivi del tribunale e sarà presto esaminato dal giudice.",
            "Il sig. Rossi e il dott. Bianchi citano l'art. 5 e pag. 12.",
            "Poi partono.",
        ],
        [
            "O processo está nos arquivos do tribunal e será em breve examinado pelo juiz da causa.",
            "O Sr. Silva e a Dra. Costa moram na Av. Central, art. 5.",
            "Depois saem.",
        ],
        [
            "Het dossier ligt in het archief van de rechtbank en wordt daar binnenkort onderzocht.",
            "Dhr. Jansen en mevr. De Vries wonen bij dr. Bakker, bijv. Op blz. 12.",
            "Daarna gaan zij.",
        ],
        [
            "Дело находится в архиве суда и вскоре будет там рассмотрено судьёй города Москвы.",
            "В 2020 г. Иванов жил на ул. Ленина, см. рис. 5, т. е. Там же.",
            "Потом он уехал.",
        ],
        [
            "Akta znajdują się w archiwum sądu i wkrótce zostaną tam zbadane przez sędziego okręgu.",
            "Pan prof. Nowak mieszka przy ul. Długiej, np. Tam, zob. str. 12.",
            "Potem wyjechał.",
        ],
        [
            "Spis je uložen v archivu soudu a bude tam brzy přezkoumán soudcem okresního soudu.",
            "Pan Ing. Novák bydlí v ul. Dlouhé, např. Tam, dne 3. března, viz str. 12.",
            "Pak odjel.",
        ],
    ],
)
def test_abbreviations_end_no_sentence(parts: list[str]) -> None:
    assert sentences(" ".join(parts)) == parts


@pytest.mark.parametrize(
    "parts",
    [
        ["これは文です。", "「はい！」", "次の文？", "終わり。"],
        ["这是一句话。", "真的吗？", "好的！"],
        ["هل هذا صحيح؟", "نعم هو كذلك."],
        ["یہ ایک جملہ ہے۔", "یہ دوسرا ہے۔"],
        ["यह एक वाक्य है।", "यह दूसरा है।"],
        ["Er sagte: „Es ist aus.“", "Dann ging er."],
        ["Il a dit : « C'est fini. »", "Puis il partit."],
        ["**It is bold.**", "It is not."],
        ["Really?!", "Yes."],
        ["Πού είναι το σπίτι;", "«Τι κάνεις;»", "Εδώ; ρώτησε."],
    ],
)
def test_stops_of_other_scripts_and_quotes_after_stops(parts: list[str]) -> None:
    dense = parts[0][-1] in "。?" and parts[0][0] > "\u3000"

    assert sentences(("" if dense else " ").join(parts)) == parts


@pytest.mark.parametrize(
    "parts",
    [
        # numbers that count at the start of a sentence, not those that end one
        [
            ENGLISH.strip(),
            "1. The seller delivers.",
            "2. The buyer pays.",
            "He has 12.",
            "It ends.",
        ],
        ["Należy: 1. Ustawić kursor.", "2. Nacisnąć klawisz."],
        ["Es gilt Art. 12.", "IV. Die Kosten trägt der Kläger.", "3.1.2. Zinsen sind fällig."],
        [
            "A kormány a határozatot tegnap este fogadta el, és ma reggel közzé is tette.",
            "Az 1. Lajos és a II. Rákóczi iskola jön.",
            "Vége.",
        ],
        # speech that goes on behind a dash, remarks in brackets
        ["„Dlaczego?” - powtórzyła.", "- Nie wiem!", "- Monika wyszła."],
        ["«Нет!» — сказал он.", "— Да."],
        ["Why? (he asked again.)", "Nobody came. (see the file.)", "It ended."],
        ["He came (lat. Homo venit).", "That was it."],
        ["We do: (a) this.", "(b) that."],
        # dots with spaces
        ["It was late . . . and dark.", "They left."],
        [",, Mooi,” zei hij.", ",, Dank u.”", "Hij ging."],
        ["It runs on .NET, it says.", ".NET is old."],
        ["We took the men’s.", "However, it was late."],
        ["Die Anna-Seghers-Str. 12 und die Hauptstr. 5 liegen nah.", "Nord GmbH & Co. KG auch."],
    ],
)
def test_a_sentence_goes_on_behind_its_number_and_behind_speech(parts: list[str]) -> None:
    assert sentences(" ".join(parts)) == parts


@pytest.mark.parametrize(
    "parts",
    [
        ["今日は休み！", "“次”を見て。", "終わり!", "今日はYahoo!ニュースを読む。"],
        ["他走了。", "“文化”很好。"],
    ],
)
def test_quotes_open_behind_full_width_stops(parts: list[str]) -> None:
    assert sentences("".join(parts)) == parts


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        (
            "Tệp này nằm trong kho lưu trữ của tòa án và sẽ được xem xét.",
            "TP. HCM và TS. Nam ở đây.",
        ),
        (
            "Byla yra teismo archyve ir netrukus bus ten ištirta.",
            "Skirta 54 mlrd. EUR, pvz. Vilniuje.",
        ),
        (
            "Lieta atrodas tiesas arhīvā un drīz tiks tur izskatīta.",
            "Prof. Ozols, piem. Rīgā, runā.",
        ),
        ("फ़ाइल न्यायालय के अभिलेखागार में है।", "वहाँ डॉ. शर्मा और प्रो. वर्मा आए।"),
        ("الملف موجود في أرشيف المحكمة وسيتم فحصه هناك قريبا.", "جاء د. أحمد ومعه م. خالد."),
        (
            "Asiakirja on tuomioistuimen arkistossa ja se tutkitaan pian siellä.",
            "Siellä on mm. Helsinki.",
        ),
    ],
)
def test_abbreviations_of_more_languages(start: str, sentence: str) -> None:
    assert sentences(f"{start} {sentence}") == [start, sentence]


@pytest.mark.parametrize(
    "parts",
    [
        ["Hon bor i Lund sedan länge och arbetar där.", "Hon är ung.", "Han är gammal."],
        ["Книга лежит на столе, и она очень старая.", "У него острый ум.", "Он учёный."],
        ["Смешайте муку с водой и дайте постоять час.", "Добавьте 250 мл.", "Варите долго."],
        ["Mittaa nauhasta sopiva pala ja leikkaa se.", "Jätä 5 mm.", "Liimaa lopuksi."],
        ["Eski kitabı masanın üzerinde bırakmışlar.", "Onu bul.", "Sonra eve gel."],
    ],
)
def test_words_and_units_end_sentences_in_languages_that_have_them(parts: list[str]) -> None:
    assert sentences(" ".join(parts)) == parts


def test_abbreviations_of_the_language_count_beside_those_of_all() -> None:
    polish = "Ulica jest długa i ładna, a potem skręca w lewo."
    portuguese = "O livro foi escrito em Portugal e conta a história do país no séc. XX inteiro."

    assert sentences(f"{GERMAN}Es kostet 5 Mio. Euro, sagt Dr. med. Ott.")[1:] == [
        "Es kostet 5 Mio. Euro, sagt Dr. med. Ott."
    ]
    assert sentences(f"{polish} Dom stoi przy al. Jana Pawła.")[0] == polish
    assert len(sentences(f"{polish} Dom stoi przy al. Jana Pawła.")) == 2
    assert sentences(portuguese) == [portuguese]


def test_lower_case_of_any_script_goes_on() -> None:
    assert sentences("Er kam ca. über Mittag. Dann ging er.")[0] == "Er kam ca. über Mittag."
    assert sentences("Это стр. пятая книги. Конец.")[0] == "Это стр. пятая книги."


def test_chunks_end_behind_no_abbreviation_and_start_at_sentences() -> None:
    clause = (
        "Klausel {0} gilt für Herrn Dr. Kranz, z. B. am 3. März bzw. ca. fünf weitere Mieter, d. h."
        " die Fa. Nord GmbH i. G. mit Nr. {0} usw. aus Bd. {0} S. 12 der Akte. "
    )
    text = "".join(map(clause.format, range(40)))

    for overlap in (0, 32):
        chunks = cut(text, size=256, overlap=overlap)
        assert len(chunks) > 8
        assert all(chunk.startswith("Klausel") and chunk.endswith("Akte.") for chunk in chunks)


def test_a_sentence_longer_than_a_chunk_is_not_cut_behind_an_abbreviation() -> None:
    text = "und Herr Prof. Dr. Kranz mit Frau Dr. Ott, " * 60

    assert not any(chunk.text.endswith("r.") for chunk in chunks_of(text, size=64))


def test_time_is_linear_for_full_stops_without_end() -> None:
    text = "Dr. " * 200_000

    assert Sentences(text).last_end(1, len(text)) is None
