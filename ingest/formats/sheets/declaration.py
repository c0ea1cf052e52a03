"""How spreadsheets and CSV tables are recognised.

By suffixes, media types, signatures, and the parts or streams of their containers.
"""

import re

from ingest.formats import media_types as types
from ingest.formats.declaration import Format

EXCEL_2_TO_4 = re.compile(
    rb"\x09[\0\x02\x04\x08][\x04-\x10]\0(?:\0[\0\x02-\x06]|[\0\x02-\x06]\0)[\x05\x10\x20\x40]\0"
)

FORMATS: tuple[Format, ...] = (
    Format(
        media_type=types.XLSB,
        label="a binary Excel workbook",
        suffixes=".xlsb",
        reader="ingest.formats.sheets.workbook",
        zip_content_type=re.compile(rb"ms-excel\.sheet\.binary\.macroEnabled\.main", re.IGNORECASE),
        zip_parts=("xl/workbook.bin",),
    ),
    Format(
        media_type=types.XLSX,
        label="an Excel workbook",
        suffixes=".xlsx .xlsm .xltx .xltm",
        reader="ingest.formats.sheets.workbook",
        zip_content_type=re.compile(
            rb"spreadsheetml\.(?:sheet|template)\.main"
            rb"|ms-excel\.(?:sheet|template|addin)\.macroEnabled\.main",
            re.IGNORECASE,
        ),
        zip_parts=("xl/workbook.xml",),
        zip_folder="xl/",
    ),
    Format(
        media_type=types.XLS,
        label="an Excel 97 workbook",
        suffixes=".xls .xlt",
        reader="ingest.formats.sheets.workbook",
        signatures=(EXCEL_2_TO_4,),
        ole_streams=("Workbook", "Book"),
    ),
    Format(
        media_type=types.ODS,
        label="an OpenDocument spreadsheet",
        suffixes=".ods",
        reader="ingest.formats.sheets.workbook",
        zip_mimetypes=("application/vnd.oasis.opendocument.spreadsheet",),
    ),
    Format(
        media_type=types.FODS,
        label="an OpenDocument spreadsheet in XML",
        suffixes=".fods",
        reader="ingest.formats.sheets.workbook",
        xml_marks=('mimetype="application/vnd.oasis.opendocument.spreadsheet"',),
    ),
    Format(
        media_type=types.CSV,
        label="a CSV table",
        suffixes=".csv",
        reader="ingest.formats.sheets.csv",
        aliases=("application/csv", "text/x-csv", "text/comma-separated-values"),
        is_text=True,
        related=frozenset({types.TSV}),
    ),
    Format(
        media_type=types.TSV,
        label="a TSV table",
        suffixes=".tsv .tab",
        reader="ingest.formats.sheets.csv",
        is_text=True,
        related=frozenset({types.CSV}),
    ),
)
