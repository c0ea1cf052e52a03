"""`winmail.dat` by itself, as mail programs save it that cannot read it."""

from ingest.errors import Permanent
from ingest.formats.common.attachments import Attachments
from ingest.formats.common.input_file import Extraction, InputFile
from ingest.formats.mail.message import read_message
from ingest.formats.mail.message_file import check_size, extraction_of
from ingest.formats.mail.tnef import as_mail

_VERSION = "tnef 2"


def extract(source: InputFile) -> Extraction:
    """Subject and body; attachments are listed and passed on. Raises Permanent as for e-mails."""
    check_size(source.stream)
    attachments = Attachments(source.members)
    try:
        message = as_mail(source.stream.read(), attachments)
    except ValueError as error:
        raise Permanent("winmail.dat is damaged; nothing can be read.", code="corrupt") from error
    mail = read_message(message, attachments)
    return extraction_of(mail, attachments, extractor=_VERSION)
