"""What readers do not see when they open a page: reported as warnings of its document."""

from enum import IntFlag, auto


class Unseen(IntFlag):
    """Kinds of text, of a sentence or more, that were found in a page."""

    NOTHING = 0
    HIDDEN = auto()
    """Left out, unless it is most of the page: `hidden_text`."""
    FOLDED = auto()
    """Read, because a control leads to it: `folded_text`."""
    SCRIPT = auto()
    """Read, although only scripts could show it: `script_text`."""
