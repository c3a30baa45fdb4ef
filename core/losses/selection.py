"""Selection of documents whose pairs count: the top ranks and, with Lambda-eX, documents missing from them.

A pair is kept when at least one of its documents is selected. Plain truncation selects the ranks up to τ. The
Lambda-eX strategies add documents below τ whose label the current top τ lacks. The deficit of a label is the
number of its documents in the ideal top τ minus their number in the current top τ; label 0 never counts.
`static` walks down the ranking and takes a document while its label's deficit lasts. `random` does so over a
shuffle. `all` takes every document whose label has a deficit. `all-static` and `all-random` select as `all`
does, but as `static` and `random` where the ideal top τ holds the query's lowest relevant label.

The paper prints another rule, in which labels are sets. Every document below τ whose label the ideal top τ
holds is then missed, however many documents of the label the current top τ has. `static` and `random` take up
to h of them. h is the number of documents of the top τ whose label the ideal top τ does not hold.

Source: Marcuzzi et al. 2023, section 4: label multisets as in the authors' code, sets as printed in sections
4.1 and 4.2.
"""

from collections.abc import Mapping
from types import MappingProxyType

from core.jit import nonallocating
from core.losses.randomness import shuffle
from core.types import Int32Array, Int64Array

TOP, STATIC, RANDOM, ALL, ALL_STATIC, ALL_RANDOM = range(6)
RANDOM_SELECTIONS = (RANDOM, ALL_RANDOM)
BY_SET = 5  # added to the number of a strategy to treat labels as sets

PAIR_SELECTIONS: Mapping[str | None, int] = MappingProxyType(
    {
        None: TOP,
        "static": STATIC,
        "random": RANDOM,
        "all": ALL,
        "all-static": ALL_STATIC,
        "all-random": ALL_RANDOM,
    }
)


@nonallocating
def _fill_deficits(
    order: Int64Array,
    levels: Int32Array,
    start: int,
    n: int,
    n_positive: int,
    cutoff: int,
    deficit: Int64Array,
) -> int:
    """Fill deficit[level] of relevant labels; return the level of the lowest one in the ideal top k."""
    deficit[:n_positive] = 0
    for rank in range(n):
        level = levels[start + order[rank]]
        if level < n_positive:
            deficit[level] += 1
    remaining = cutoff
    lowest = 0
    for level in range(n_positive):
        deficit[level] = min(deficit[level], remaining)
        remaining -= deficit[level]
        if deficit[level] > 0:
            lowest = level
    for rank in range(cutoff):
        level = levels[start + order[rank]]
        if level < n_positive:
            deficit[level] -= 1
    return lowest


@nonallocating
def _select_while_deficit(
    walk: Int64Array,
    order: Int64Array,
    levels: Int32Array,
    start: int,
    n_positive: int,
    deficit: Int64Array,
    selected: Int64Array,
) -> None:
    """Select along `walk`, a sequence of ranks, while the label of the document has a deficit."""
    for rank in walk:
        level = levels[start + order[rank]]
        if level < n_positive and deficit[level] > 0:
            deficit[level] -= 1
            selected[rank] = 1


@nonallocating
def _count_not_ideal(
    order: Int64Array, levels: Int32Array, start: int, n: int, n_positive: int, cutoff: int, lowest: int
) -> int:
    """Count the documents of the top k whose label the ideal top k does not hold."""
    relevant, not_ideal = 0, 0
    for rank in range(n):
        relevant += int(levels[start + order[rank]] < n_positive)
    if relevant < cutoff:  # the ideal top k holds every label
        return 0
    for rank in range(cutoff):
        not_ideal += int(levels[start + order[rank]] > lowest)
    return not_ideal


@nonallocating
def _select_missed(
    walk: Int64Array,
    order: Int64Array,
    levels: Int32Array,
    start: int,
    highest_level: int,
    count: int,
    selected: Int64Array,
) -> None:
    """Select up to `count` documents along `walk` whose label the ideal top k holds."""
    for rank in walk:
        if count > 0 and levels[start + order[rank]] <= highest_level:
            count -= 1
            selected[rank] = 1


@nonallocating
def select(
    strategy: int,
    cutoff: int,
    order: Int64Array,
    levels: Int32Array,
    start: int,
    n: int,
    n_positive: int,
    key: int,
    selected: Int64Array,
    deficit: Int64Array,
    walk: Int64Array,
) -> None:
    """Fill selected[rank] with 1 for the documents whose pairs are kept, else 0.

    Args:
        strategy: One of the constants of this module, with `BY_SET` added for labels as sets.
        cutoff: τ.
        order: Document offset at each 0-based rank.
        levels: Level of each document's label in its query, 0 the highest.
        start: First row of the query.
        n_positive: Levels whose label is above 0.
        key: Key of the random numbers of this query and iteration.
        selected: Output by rank.
        deficit: Scratch, one entry per level.
        walk: Scratch, one entry per document.
    """
    top = min(cutoff, n)
    selected[:top] = 1
    selected[top:n] = 0
    if top == n:
        return
    by_set = strategy > ALL_RANDOM
    if by_set:
        strategy -= BY_SET
    lowest = _fill_deficits(order, levels, start, n, n_positive, top, deficit)
    if n_positive == 0:
        return
    everything = strategy == ALL or (strategy >= ALL_STATIC and lowest != n_positive - 1)
    if everything:
        for rank in range(top, n):
            level = levels[start + order[rank]]
            if level < n_positive and (level <= lowest if by_set else deficit[level] > 0):
                selected[rank] = 1
        return
    steps = walk[: n - top]
    for i in range(n - top):
        steps[i] = top + i
    if strategy in RANDOM_SELECTIONS:
        shuffle(steps, key)
    if by_set:
        not_ideal = _count_not_ideal(order, levels, start, n, n_positive, top, lowest)
        _select_missed(steps, order, levels, start, lowest, not_ideal, selected)
    else:
        _select_while_deficit(steps, order, levels, start, n_positive, deficit, selected)
