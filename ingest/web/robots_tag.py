"""The header `X-Robots-Tag`: robots rules for responses that are not HTML."""

from dataclasses import dataclass

_AGENT = "rag-ingest"


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsTag:
    index: bool = True
    """Whether the response may be indexed."""
    follow: bool = True
    """Whether its links may be followed."""


def read_tag(value: str) -> RobotsTag:
    """The rules for all crawlers and for ours; several headers, joined by commas, all apply.

    A rule may name one crawler (`otherbot: noindex, nofollow`). The name applies to all rules after
    it, up to the next name.
    """
    rules, is_ours = set(), True
    for part in value.lower().split(","):
        name, colon, rest = part.partition(":")
        if colon and " " not in name.strip() and name.strip() != "unavailable_after":
            is_ours = name.strip() == _AGENT
            part = rest
        if is_ours:
            rules.add(part.strip())
    return RobotsTag(index=not rules & {"noindex", "none"}, follow=not rules & {"nofollow", "none"})
