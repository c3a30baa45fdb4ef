"""Names of features as LightGBM can write them into a model."""

import re
from collections.abc import Iterable

# It writes names into one line, apart by spaces, and into JSON without escaping them.
_UNWRITABLE = re.compile(r"[\s\x00-\x1f\",:\[\]{}]")


def writable_names(names: Iterable[str]) -> list[str]:
    """Return names that LightGBM accepts, each different and as close as can be to the given one.

    Accepted names stay, at any position: none of them ever means another feature.

    Example:
        >>> writable_names(["bm25", "page rank", "page_rank", "price:usd"])
        ['bm25', 'page_rank_', 'page_rank', 'price_usd']
    """
    given = list(names)
    taken = {name for name in given if _is_writable(name)}
    written = []
    for name in given:
        spelling = name
        if not _is_writable(name):
            spelling = _UNWRITABLE.sub("_", name) or "_"
            while spelling in taken:
                spelling += "_"
            taken.add(spelling)
        written.append(spelling)
    return written


def _is_writable(name: str) -> bool:
    return bool(name) and not _UNWRITABLE.search(name)
