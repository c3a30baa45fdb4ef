"""Hold-outs: the queries of a dataset that a job sets aside."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from core.data.dataset import RankingDataset
from core.data.splits import Split, column_queries, fold_queries, split_queries
from core.errors import InvalidInput


@dataclass(frozen=True)
class HeldOutFraction:
    """A share of the queries: `{"fraction": 0.2}`."""

    is_random: ClassVar[bool] = True
    fraction: float

    def split(self, dataset: RankingDataset, seed: int) -> Split:
        """Return the kept and the held-out queries."""
        return split_queries(dataset, self.fraction, seed)


@dataclass(frozen=True)
class HeldOutFold:
    """One of k parts of about equal size, counted from 1: `{"folds": 5, "fold": 1}`."""

    is_random: ClassVar[bool] = True
    folds: int
    fold: int

    def split(self, dataset: RankingDataset, seed: int) -> Split:
        """Return the kept and the held-out queries."""
        return fold_queries(dataset, self.folds, self.fold, seed)


@dataclass(frozen=True)
class HeldOutColumn:
    """The queries with certain values in a column: `{"column": "split", "values": ["vali"]}`."""

    is_random: ClassVar[bool] = False
    column: str
    values: tuple[str, ...]

    def split(self, dataset: RankingDataset, seed: int) -> Split:
        """Return the kept and the held-out queries, without randomness."""
        return column_queries(dataset, self.column, self.values)


HoldOut = HeldOutFraction | HeldOutFold | HeldOutColumn


def hold_out(values: Mapping[str, Any]) -> HoldOut:
    """Parse the hold-out of a job's JSON: a fraction, a fold or a column.

    Raises:
        InvalidInput: The JSON has none of these forms.
    """
    match values:
        case {"fraction": int() | float() as fraction}:
            return HeldOutFraction(fraction)
        case {"folds": int(folds), "fold": int(fold)}:
            return HeldOutFold(folds, fold)
        case {"column": str(column), "values": [*texts]} if texts and all(isinstance(t, str) for t in texts):
            return HeldOutColumn(column, tuple(texts))
    raise InvalidInput.at(
        "",
        'must be {"fraction": 0.2}, {"folds": 5, "fold": 1} or {"column": "split", "values": ["test"]}',
    )
