"""Names of months, weekdays and eras in the languages that number formats of spreadsheets name."""

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

# Each block: the Windows code of a language, its tag, then January to December and Monday to
# Sunday, each followed by its short forms, or nothing where those are the first three letters. A
# code of four digits is for months within dates, where they have another case.
_NAMES: Final = """
01 ar: يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر | يناير فبراير
  مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر | الاثنين الثلاثاء الأربعاء الخميس
  الجمعة السبت الأحد | الاثنين الثلاثاء الأربعاء الخميس الجمعة السبت الأحد
02 bg: януари февруари март април май юни юли август септември октомври ноември декември | яну фев
  март апр май юни юли авг сеп окт ное дек | понеделник вторник сряда четвъртък петък събота
  неделя | пн вт ср чт пт сб нд
03 ca: gener febrer març abril maig juny juliol agost setembre octubre novembre desembre | gen.
  febr. març abr. maig juny jul. ag. set. oct. nov. des. | dilluns dimarts dimecres dijous
  divendres dissabte diumenge | dl. dt. dc. dj. dv. ds. dg.
04 zh: 一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月 | 1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月 | 星期一 星期二
  星期三 星期四 星期五 星期六 星期日 | 周一 周二 周三 周四 周五 周六 周日
05 cs: leden únor březen duben květen červen červenec srpen září říjen listopad prosinec | led úno
  bře dub kvě čvn čvc srp zář říj lis pro | pondělí úterý středa čtvrtek pátek sobota neděle | po
  út st čt pá so ne
06 da: januar februar marts april maj juni juli august september oktober november december |  |
  mandag tirsdag onsdag torsdag fredag lørdag søndag | ma ti on to fr lø sø
07 de: Januar Februar März April Mai Juni Juli August September Oktober November Dezember |  |
  Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag | Mo Di Mi Do Fr Sa So
08 el: Ιανουάριος Φεβρουάριος Μάρτιος Απρίλιος Μάιος Ιούνιος Ιούλιος Αύγουστος Σεπτέμβριος
  Οκτώβριος Νοέμβριος Δεκέμβριος | Ιαν Φεβ Μάρ Απρ Μάι Ιούν Ιούλ Αύγ Σεπ Οκτ Νοέ Δεκ | Δευτέρα
  Τρίτη Τετάρτη Πέμπτη Παρασκευή Σάββατο Κυριακή |
09 en: January February March April May June July August September October November December |  |
  Monday Tuesday Wednesday Thursday Friday Saturday Sunday |
0A es: enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre |
  | lunes martes miércoles jueves viernes sábado domingo |
0B fi: tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu
  marraskuu joulukuu | tammi helmi maalis huhti touko kesä heinä elo syys loka marras joulu |
  maanantai tiistai keskiviikko torstai perjantai lauantai sunnuntai | ma ti ke to pe la su
0C fr: janvier février mars avril mai juin juillet août septembre octobre novembre décembre |
  janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc. | lundi mardi mercredi jeudi
  vendredi samedi dimanche | lun. mar. mer. jeu. ven. sam. dim.
0D he: ינואר פברואר מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר | ינו׳ פבר׳ מרץ
  אפר׳ מאי יוני יולי אוג׳ ספט׳ אוק׳ נוב׳ דצמ׳ | יום_שני יום_שלישי יום_רביעי יום_חמישי יום_שישי שבת
  יום_ראשון | יום_ב׳ יום_ג׳ יום_ד׳ יום_ה׳ יום_ו׳ שבת יום_א׳
0E hu: január február március április május június július augusztus szeptember október november
  december | jan. febr. márc. ápr. máj. jún. júl. aug. szept. okt. nov. dec. | hétfő kedd szerda
  csütörtök péntek szombat vasárnap | H K Sze Cs P Szo V
10 it: gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre
  dicembre |  | lunedì martedì mercoledì giovedì venerdì sabato domenica |
11 ja: 1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月 |  | 月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日 | 月 火 水 木 金 土 日
12 ko: 1월 2월 3월 4월 5월 6월 7월 8월 9월 10월 11월 12월 |  | 월요일 화요일 수요일 목요일 금요일 토요일 일요일 | 월 화 수 목 금 토 일
13 nl: januari februari maart april mei juni juli augustus september oktober november december |
  jan feb mrt apr mei jun jul aug sep okt nov dec | maandag dinsdag woensdag donderdag vrijdag
  zaterdag zondag | ma di wo do vr za zo
14 nb: januar februar mars april mai juni juli august september oktober november desember |  |
  mandag tirsdag onsdag torsdag fredag lørdag søndag | man. tir. ons. tor. fre. lør. søn.
15 pl: styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad
  grudzień |  | poniedziałek wtorek środa czwartek piątek sobota niedziela | pon. wt. śr. czw. pt.
  sob. niedz.
16 pt: janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro |
  | segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo |
18 ro: ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie
  decembrie | ian. feb. mar. apr. mai iun. iul. aug. sept. oct. nov. dec. | luni marți miercuri
  joi vineri sâmbătă duminică | lun. mar. mie. joi vin. sâm. dum.
19 ru: январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь |  |
  понедельник вторник среда четверг пятница суббота воскресенье | пн вт ср чт пт сб вс
1A hr: siječanj veljača ožujak travanj svibanj lipanj srpanj kolovoz rujan listopad studeni
  prosinac | sij velj ožu tra svi lip srp kol ruj lis stu pro | ponedjeljak utorak srijeda
  četvrtak petak subota nedjelja |
1B sk: január február marec apríl máj jún júl august september október november december |  |
  pondelok utorok streda štvrtok piatok sobota nedeľa | po ut st št pi so ne
1D sv: januari februari mars april maj juni juli augusti september oktober november december |  |
  måndag tisdag onsdag torsdag fredag lördag söndag | mån tis ons tors fre lör sön
1F tr: Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık |  | Pazartesi
  Salı Çarşamba Perşembe Cuma Cumartesi Pazar | Pzt Sal Çar Per Cum Cmt Paz
21 id: Januari Februari Maret April Mei Juni Juli Agustus September Oktober November Desember |  |
  Senin Selasa Rabu Kamis Jumat Sabtu Minggu |
22 uk: січень лютий березень квітень травень червень липень серпень вересень жовтень листопад
  грудень | січ. лют. бер. квіт. трав. черв. лип. серп. вер. жовт. лист. груд. | понеділок
  вівторок середа четвер п'ятниця субота неділя | пн вт ср чт пт сб нд
24 sl: januar februar marec april maj junij julij avgust september oktober november december |
  jan. feb. mar. apr. maj jun. jul. avg. sep. okt. nov. dec. | ponedeljek torek sreda četrtek
  petek sobota nedelja | pon. tor. sre. čet. pet. sob. ned.
25 et: jaanuar veebruar märts aprill mai juuni juuli august september oktoober november detsember
  | jaan veebr märts apr mai juuni juuli aug sept okt nov dets | esmaspäev teisipäev kolmapäev
  neljapäev reede laupäev pühapäev | E T K N R L P
26 lv: janvāris februāris marts aprīlis maijs jūnijs jūlijs augusts septembris oktobris novembris
  decembris | janv. febr. marts apr. maijs jūn. jūl. aug. sept. okt. nov. dec. | Pirmdiena
  Otrdiena Trešdiena Ceturtdiena Piektdiena Sestdiena Svētdiena | Pirmd. Otrd. Trešd. Ceturtd.
  Piektd. Sestd. Svētd.
27 lt: sausis vasaris kovas balandis gegužė birželis liepa rugpjūtis rugsėjis spalis lapkritis
  gruodis | saus. vas. kov. bal. geg. birž. liep. rugp. rugs. spal. lapkr. gruod. | pirmadienis
  antradienis trečiadienis ketvirtadienis penktadienis šeštadienis sekmadienis | pr an tr kt pn št
  sk
2A vi: Tháng_1 Tháng_2 Tháng_3 Tháng_4 Tháng_5 Tháng_6 Tháng_7 Tháng_8 Tháng_9 Tháng_10 Tháng_11
  Tháng_12 | Thg_1 Thg_2 Thg_3 Thg_4 Thg_5 Thg_6 Thg_7 Thg_8 Thg_9 Thg_10 Thg_11 Thg_12 | Thứ_Hai
  Thứ_Ba Thứ_Tư Thứ_Năm Thứ_Sáu Thứ_Bảy Chủ_Nhật | T2 T3 T4 T5 T6 T7 CN
FC19 -: января февраля марта апреля мая июня июля августа сентября октября ноября декабря | |
  понедельник вторник среда четверг пятница суббота воскресенье | пн вт ср чт пт сб вс
FC22 -: січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня |
  січ. лют. бер. квіт. трав. черв. лип. серп. вер. жовт. лист. груд. | понеділок вівторок середа
  четвер п'ятниця субота неділя | пн вт ср чт пт сб нд
"""
_PRIMARY: Final = 0x3FF  # bits of a code without the country
_ENGLISH: Final = 0x09
_JAPANESE: Final = 0x11
_TAIWAN: Final = 0x404
_TAG: Final = re.compile(r"([A-Za-z]{2,3})(?:-.*)?")
_HALVES_OF_DAY: Final = {
    0x04: ("上午", "下午"),
    _JAPANESE: ("午前", "午後"),
    0x12: ("오전", "오후"),
}
_ERAS: Final = (
    # First day, and the name in one to three letters; the newest first.
    (dt.date(2019, 5, 1), ("R", "令", "令和")),
    (dt.date(1989, 1, 8), ("H", "平", "平成")),
    (dt.date(1926, 12, 25), ("S", "昭", "昭和")),
    (dt.date(1912, 7, 30), ("T", "大", "大正")),
    (dt.date(1868, 1, 25), ("M", "明", "明治")),
)
_FIRST_YEAR_OF_TAIWAN: Final = 1912


class _Names(NamedTuple):
    months: Sequence[str]
    short_months: Sequence[str]
    weekdays: Sequence[str]
    short_weekdays: Sequence[str]


def month(number: int, locale: int, *, short: bool = False) -> str:
    """The name of a month, 1 for January; locale: a Windows language code."""
    names = _of(locale)
    return (names.short_months if short else names.months)[number - 1]


def weekday(number: int, locale: int, *, short: bool = False) -> str:
    """The name of a weekday, 0 for Monday."""
    names = _of(locale)
    return (names.short_weekdays if short else names.weekdays)[number]


def halves_of_day(locale: int) -> tuple[str, str]:
    """AM and PM; in East Asian formats, words of the language."""
    return _HALVES_OF_DAY.get(locale & _PRIMARY, ("AM", "PM"))


def era(date: dt.date, locale: int, *, letters: int) -> str:
    """The era of a date in Japan or Taiwan, in `letters` letters: 1, 2 or more; else empty."""
    if locale == _TAIWAN:
        return "中華民國" if letters > 2 else "民國"
    if locale & _PRIMARY == _JAPANESE:
        return next((names[min(letters, 3) - 1] for first, names in _ERAS if date >= first), "")
    return ""


def year_of_era(date: dt.date, locale: int) -> int:
    """The year in the era of the date; that of the common calendar without one."""
    if locale == _TAIWAN:
        return date.year - _FIRST_YEAR_OF_TAIWAN + 1
    if locale & _PRIMARY == _JAPANESE:
        return next((date.year - first.year + 1 for first, _ in _ERAS if date >= first), date.year)
    return date.year


def code_of(language: str) -> int:
    """The Windows code of what a format names: `407`, `de-DE`; 0 if it names none that is known."""
    tag = _TAG.fullmatch(language)
    if tag is None or len(language) == 1:
        return int(language[-4:], 16) if re.fullmatch("[0-9A-Fa-f]+", language) else 0
    if language.casefold() in ("zh-tw", "zh-hant-tw"):
        return _TAIWAN
    return _languages()[1].get(tag[1].casefold(), 0)


def _of(locale: int) -> _Names:
    names = _languages()[0]
    return names.get(locale) or names.get(locale & _PRIMARY) or names[_ENGLISH]


@lru_cache(maxsize=1)
def _languages() -> tuple[Mapping[int, _Names], Mapping[str, int]]:
    """The names by code, and the codes by tag."""
    names: dict[int, _Names] = {}
    codes: dict[str, int] = {}
    for block in re.split(r"\n(?=\S)", _NAMES.strip()):
        head, _, text = block.partition(":")
        code, _, tag = head.partition(" ")
        lists = [[name.replace("_", " ") for name in part.split()] for part in text.split("|")]
        months, short_months, weekdays, short_weekdays = lists
        names[int(code, 16)] = _Names(
            months,
            short_months or [name[:3] for name in months],
            weekdays,
            short_weekdays or [name[:3] for name in weekdays],
        )
        codes[tag] = int(code, 16)
    return names, codes
