"""Signatures of outgoing webhooks, made with the library that receivers verify them with."""

import secrets
from base64 import b64encode
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from standardwebhooks import Webhook

_SECRET_BYTES: Final = 32


def new_secret(material: bytes | None = None) -> str:
    """`whsec_` and 32 bytes in base64, as in Standard Webhooks; random without `material`."""
    material = material or secrets.token_bytes(_SECRET_BYTES)
    return f"whsec_{b64encode(material).decode()}"


def signed_headers(
    secrets: Sequence[str], *, message_id: str, at: datetime, body: str
) -> dict[str, str]:
    """The headers of one attempt at the time `at` (aware), with one signature per secret."""
    signatures = [Webhook(secret).sign(message_id, at, body) for secret in secrets]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
