"""What the header `X-Robots-Tag` allows: the robots rules of answers that have no head of HTML."""

from dataclasses import dataclass

_AGENT = "rag-ingest"


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsTag:
    index: bool = True
    """Whether the answer may become searchable."""
    follow: bool = True
    """Whether its links may be followed."""


def read_tag(value: str) -> RobotsTag:
    """Rules for all robots and for ours; of several headers, joined by commas, all hold.

    A rule may be for one robot (`otherbot: noindex, nofollow`): its name holds for the rules after
    it as well, up to the next name.
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
