"""Groups texts into embedding requests. Pure."""

from collections.abc import Sequence


def group(token_counts: Sequence[int], *, max_items: int, max_tokens: int) -> list[range]:
    """Split texts 0 … n-1 into runs, each within both limits of a request.

    Order is kept and each index is in exactly one run. A text longer than `max_tokens` gets its
    own run: the provider decides what to do with it.
    """
    if max_items < 1:
        raise ValueError("a request holds at least one text")
    groups: list[range] = []
    start = tokens = 0
    for index, count in enumerate(token_counts):
        if index > start and (index - start == max_items or tokens + count > max_tokens):
            groups.append(range(start, index))
            start, tokens = index, 0
        tokens += count
    if start < len(token_counts):
        groups.append(range(start, len(token_counts)))
    return groups
