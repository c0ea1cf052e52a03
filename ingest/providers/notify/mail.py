"""E-mail through the operator's mail server."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Final

import aiosmtplib

from ingest.errors import IngestError
from ingest.settings.smtp_url import SmtpServer

_STEP_SECONDS: Final = 10
_TOTAL_SECONDS: Final = 30


class MailRefused(IngestError):
    """The mail was not sent. `status`: the server's SMTP code; None if it gave none."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    to: str
    """A plain address (smtp_url.is_mail_address)."""
    subject: str
    """One line."""
    text: str
    message_id: str
    """The same for each attempt, so mailboxes drop duplicates."""
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Mailer:
    server: SmtpServer
    sender: str
    """A plain address."""

    async def send(self, letter: Letter) -> None:
        """Hand a letter to the server within 30 seconds. Raises MailRefused if that fails."""
        try:
            async with asyncio.timeout(_TOTAL_SECONDS):
                await aiosmtplib.send(
                    self._message(letter),
                    hostname=self.server.host,
                    port=self.server.port,
                    username=self.server.username,
                    password=self.server.password,
                    use_tls=self.server.security == "tls",
                    start_tls=self.server.security == "starttls",
                    timeout=_STEP_SECONDS,
                )
        except aiosmtplib.SMTPRecipientsRefused as error:
            raise _refused(error.recipients[0]) from None
        except aiosmtplib.SMTPResponseException as error:
            raise _refused(error) from None
        except (aiosmtplib.SMTPException, OSError) as error:  # TimeoutError is an OSError
            raise MailRefused(
                f"the mail server cannot be reached ({type(error).__name__})"
            ) from None

    def _message(self, letter: Letter) -> EmailMessage:
        message = EmailMessage()
        message["From"] = self.sender
        message["To"] = letter.to
        message["Subject"] = letter.subject
        message["Date"] = format_datetime(letter.at)
        message["Message-ID"] = f"<{letter.message_id}@{self.sender.rpartition('@')[2]}>"
        # Prevents automatic replies.
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(letter.text)
        return message


def _refused(error: aiosmtplib.SMTPResponseException) -> MailRefused:
    words = " ".join(error.message.split())
    return MailRefused(f"the mail server responded with {error.code} {words}", status=error.code)
