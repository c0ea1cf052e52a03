"""Letters that tell legacy encodings apart, by encoding and by language."""

# ruff: noqa: RUF001  (the letters of other scripts are the point)

PUNCTUATION = "“”‘’…–—€«»•·©®°"
CJK_PUNCTUATION = "、。・「」『』（）！？：；，《》【】ー～“”‘’…—·　％"

# The most frequent non-ASCII letters of the languages written in each encoding. The first
# encoding wins a tie, so those that are common in practice come first.
LETTERS = {
    "cp1252": "éèàçöäüßñíóáêâôîûùëïåøæãõúìòœ¿¡£ÖÄÜÉÅØÆÇ",
    "cp1251": "оеаинтсрвлкмдпуяыії",
    "cp1250": "áéíóúýčďěňřšťůžąćęłńśźżőűöüăâîşţđäôÁÉÍČŘŠŽŚŻŁŐÖÜ",
    "cp1254": "çğışöüİŞÇÖÜ",
    "cp1253": "αοιετσνηυρπκλςμάίόήέ",
    "cp1255": "יוהלאמרתבשנםעכד",
    "cp1256": "ايلمنترويبةعدسفهكأقحج،",
    "cp874": "านรอกเงมยลวดทตสปแคพไหจบชขิีัุู่้ำ์ะ",
    "koi8_r": "оеаинтсрвлкмдпуяы",
    "koi8_u": "оеаинтсрвлкмдпуяыіїє",
    "cp1257": "āčēģīķļņšūžąęėįųõäöüåøæÅÄÖ",
    "iso8859_2": "áéíóúýčďěňřšťůžąćęłńśźżőűöüăâîşţđäôÁÉÍČŘŠŽŚŻŁŐÖÜ",
    "cp866": "оеаинтсрвлкмдпуяы",
    "mac_cyrillic": "оеаинтсрвлкмдпуяы",
    "iso8859_5": "оеаинтсрвлкмдпуяыії",
    "cp862": "יוהלאמרתבשנםעכד",
    "cp850": "éèàçöäüßñíóáêâôîûùëïåøæãõúÖÄÜÉ",
    "mac_roman": "éèàçöäüßñíóáêâôîûùëïåøæãõúÖÄÜÉ",
    "cp852": "áéíóúýčďěňřšťůžąćęłńśźżőűöüăâîşţđäôÁÉÍČŘŠŽŚŻŁŐÖÜ",
    "iso8859_6": "ايلمنترويبةعدسفهكأقحج،",
    "cp855": "оеаинтсрвлкмдпуяы",
    "iso8859_7": "αοιετσνηυρπκλςμάίόήέ",
    "cp737": "αοιετσνηυρπκλςμάίόήέ",
    "cp857": "çğışöüİŞÇÖÜ",
    "cp775": "āčēģīķļņšūžąęėįųõäöüåøæÅÄÖ",
    "cp1258": "đươêôâăàáèéìíòóùúý\u0300\u0301\u0303\u0309\u0323",
}
# Letters of single languages, which tell encodings of Latin script apart: no language writes both
# `õ` and `û`, but Hungarian writes both `ő` and `ű`.
LANGUAGES = {
    "cp1252": ("£", "éèàçêâôîûùëïœ", "öäüß", "ñíóáéú¿¡", "ãõçáéíóúâêà", "åäöæøé", "àèéìòù"),
    "cp1250": ("áéíóúýčďěňřšťůž", "ąćęłńóśźż", "áéíóöőúüű", "ăâîşţ", "áäčďéíľĺňóôŕšťúýž"),
    "cp1254": ("çğışöüİ",),
    "cp1257": ("āčēģīķļņšūž", "ąčęėįšųūž", "õäöüšž"),
}
LANGUAGES |= {
    "cp857": LANGUAGES["cp1254"],
    "cp775": LANGUAGES["cp1257"],
    "cp1258": (LETTERS["cp1258"],),
    "iso8859_2": LANGUAGES["cp1250"],
    "cp850": LANGUAGES["cp1252"],
    "cp852": LANGUAGES["cp1250"],
    "mac_roman": LANGUAGES["cp1252"],
}
# Codec and lead bytes of the rows that hold the common characters of a double-byte encoding.
ROWS = {
    "cp949": ("euc_kr", range(0xB0, 0xC9)),
    "gb18030": ("gb2312", range(0xB0, 0xD8)),
    "big5hkscs": ("big5", range(0xA4, 0xC7)),
    "cp932": ("cp932", (*range(0x82, 0x84), *range(0x88, 0x98))),
    "euc_jp": ("euc_jp", (*range(0xA4, 0xA6), *range(0xB0, 0xD0))),
    "johab": ("euc_kr", range(0xB0, 0xC9)),
}
# The characters that almost every sentence holds. The rows of Hangul lie within those of Chinese.
FREQUENT = {
    "cp949": "이다는의에을를가고하은로한지도",
    "gb18030": "的一是了我不在人有他这中大来上国",
    "big5hkscs": "的一是了我不在人有他這中大來上國",
    "cp932": "のにはをたがでてとしれさいる",
    "euc_jp": "のにはをたがでてとしれさいる",
    "johab": "이다는의에을를가고하은로한지도",
}
LATIN = frozenset(LANGUAGES)

# Letters beyond ASCII by the language of a text, which its ASCII letters tell.
ALPHABETS = {
    "cs": "áčďéěíňóřšťúůýž",
    "da": "æøåé",
    "de": "äöüß",
    "en": "‘’“”–—…£éèï",
    "es": "áéíñóúü¿¡",
    "et": "õäöüšž",
    "fi": "äöå",
    "fr": "éèàçêâôîûùëïœ",
    "hr": "čćđšž",
    "hu": "áéíóöőúüű",
    "is": "áéíóúýþæðö",
    "it": "àèéìòù",
    "lt": "ąčęėįšųūž",
    "lv": "āčēģīķļņšūž",
    "nb": "æøåé",
    "nl": "éëïóèê",
    "nn": "æøåéò",
    "no": "æøåé",
    "pl": "ąćęłńóśźż",
    "pt": "ãõçáéíóúâêôà",
    "ro": "ăâîșțşţ",
    "sk": "áäčďéíĺľňóôŕšťúýž",
    "sl": "čšž",
    "sv": "åäöé",
    "tr": "çğıöşüâîû",
}
# Seldom seen, and quotation marks elsewhere: only for texts in one of these languages.
DOS_OF_LANGUAGE = {
    "cp775": {ALPHABETS[language] for language in ("et", "lt", "lv")},
    "cp857": {ALPHABETS["tr"]},
}
