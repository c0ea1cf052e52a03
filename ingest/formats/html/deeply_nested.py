"""The text of pages that are nested too deeply for a tree: markup is dropped, nothing else."""

from html.parser import HTMLParser

_NOT_TEXT = frozenset({"script", "style", "template", "head"})


def flat_text(markup: str) -> str:
    """All text of a page, in order, without structure; takes no stack however deep it is nested."""
    collector = _Collector()
    collector.feed(markup)
    collector.close()
    return "\n\n".join(collector.pieces)


class _Collector(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._skipped: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _NOT_TEXT:
            self._skipped.append(tag)
        elif tag == "body":
            self._skipped.clear()

    def handle_endtag(self, tag: str) -> None:
        if self._skipped and self._skipped[-1] == tag:
            self._skipped.pop()

    def handle_data(self, data: str) -> None:
        if not self._skipped and data.strip():
            self.pieces.append(data.strip())
