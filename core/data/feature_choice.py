"""Choose the features of a dataset that a training uses; find blocks of embedding columns."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from core.errors import InputProblem, InvalidInput
from core.names import did_you_mean, first_names
from core.stored import entry

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


_MAX_NAME_LENGTH = 40
_MAX_SUGGESTIONS = 5


def _names(stored: Iterable[str]) -> tuple[str, ...] | None:
    return tuple(stored) or None


@dataclass(frozen=True)
class FeatureChoice:
    """Features to use, or features to leave out; exactly one of the two.

    Attributes:
        use: Names of the only features or blocks of features to use, or None.
        leave_out: Names of the features or blocks of features that are not used, or None.

    Raises:
        InvalidInput: Both are given, or neither.
    """

    use: tuple[str, ...] | None = entry(None, read=_names, omit_default=True)
    leave_out: tuple[str, ...] | None = entry(None, read=_names, omit_default=True)

    def __post_init__(self) -> None:
        if bool(self.use) == bool(self.leave_out):
            raise InvalidInput.at("", "must have exactly one of use and leave_out")

    def of(self, feature_names: Sequence[str]) -> tuple[str, ...]:
        """Return the chosen features of a dataset, in the dataset's order.

        Raises:
            InvalidInput: At `/use` or `/leave_out`: a name is neither a feature nor a block, or none is left.

        Example:
            >>> FeatureChoice(leave_out=("price",)).of(["bm25", "price", "clicks"])
            ('bm25', 'clicks')
            >>> FeatureChoice(use=("emb",)).of(["bm25", "emb.0", "emb.1"])
            ('emb.0', 'emb.1')
        """
        role, listed = ("use", self.use) if self.use else ("leave_out", self.leave_out or ())
        blocks = feature_blocks(feature_names)
        if unknown := unknown_features((name for name in listed if name not in blocks), feature_names):
            raise InvalidInput(*(InputProblem(f"/{role}", problem) for problem in unknown.values()))
        columns = (column for name in listed for column in blocks.get(name, ()))
        named = {*listed, *(feature_names[column] for column in columns)}
        chosen = tuple(name for name in feature_names if (name in named) == (role == "use"))
        if not chosen:
            raise InvalidInput.at(f"/{role}", "must leave at least one feature")
        return chosen


def unknown_features(
    names: Iterable[str], feature_names: Sequence[str], owner: str = "the dataset"
) -> dict[str, str]:
    """Return a message by unknown feature name; the first five have the most similar known name.

    Args:
        names: Names that a user gave.
        feature_names: Known names.
        owner: Owner of the features.

    Example:
        >>> unknown_features(["bm52", "bm25"], ["bm25", "pagerank"])
        {'bm52': "the dataset has no feature 'bm52'; did you mean bm25?"}
    """
    known = set(feature_names)
    unknown = [name for name in dict.fromkeys(names) if name not in known]
    # A comparison with a hundred thousand names takes seconds.
    suggestions = {name: did_you_mean(name, feature_names) for name in unknown[:_MAX_SUGGESTIONS]}
    return {
        name: f"{owner} has no feature {name[:_MAX_NAME_LENGTH]!r};"
        f" {suggestions.get(name) or f'it has {first_names(feature_names)}'}"
        for name in unknown
    }
