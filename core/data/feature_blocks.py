"""Blocks of features: the numbered values of one embedding column (`emb.0`, `emb.1`, …)."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")


def block_features(block: str, width: int) -> tuple[str, ...]:
    """Name the features of a block.

    A dot separates name and number, because LightGBM refuses JSON brackets in feature names.

    Example:
        >>> block_features("emb", 3)
        ('emb.0', 'emb.1', 'emb.2')
    """
    return tuple(f"{block}.{number}" for number in range(width))


def feature_blocks(feature_names: Sequence[str]) -> Mapping[str, range]:
    """Find the complete blocks among features, and return the columns of each block by its name.

    The features of a block are adjacent columns in order, numbered from 0. Features with gaps in their
    numbers are not a block, nor is a block whose name is also the name of a feature.

    Example:
        >>> dict(feature_blocks(["bm25", "emb.0", "emb.1", "tag.1"]))
        {'emb': range(1, 3)}
    """
    numbered: dict[str, list[tuple[int, int]]] = {}
    for column, name in enumerate(feature_names):
        block, _, number = name.rpartition(".")
        if block and _NUMBER.fullmatch(number):
            numbered.setdefault(block, []).append((int(number), column))
    names = set(feature_names)
    return MappingProxyType(
        {
            block: range(members[0][1], members[0][1] + len(members))
            for block, members in numbered.items()
            if block not in names
            and all(
                number == position and column == members[0][1] + position
                for position, (number, column) in enumerate(members)
            )
        }
    )
