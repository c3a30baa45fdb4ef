"""Names of features as LightGBM can write them into a model."""

import re
from collections.abc import Iterable

# It writes names into one line, apart by spaces, and into JSON without escaping them.
_UNWRITABLE = re.compile(r"[\s\x00-\x1f\",:\[\]{}]")


def writable_names(names: Iterable[str]) -> list[str]:
    """Return names that LightGBM accepts, each different and as close as can be to the given one.

    Example:
        >>> writable_names(["bm25", "page rank", "page_rank", "price:usd"])
        ['bm25', 'page_rank', 'page_rank_', 'price_usd']
    """
    written: dict[str, None] = {}
    for name in names:
        spelling = _UNWRITABLE.sub("_", name) or "_"
        while spelling in written:
            spelling += "_"
        written[spelling] = None
    return list(written)
