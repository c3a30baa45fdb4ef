"""Folds of whole queries, each held out once, and the queries that a job sets aside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.data.dataset import RankingDataset
from core.data.splits import Split, column_queries, fold_numbers, fold_queries, query_column, split_queries
from core.errors import InvalidInput
from core.types import Int64Array

MAX_FOLDS = 100  # each fold is one training run


@dataclass(frozen=True, eq=False)
class FoldAssignment:
    """The fold of each query.

    Attributes:
        names: Names of the folds, in order.
        fold_of: int64 (n_queries,) position of a query's fold in `names`.
    """

    names: tuple[str, ...]
    fold_of: Int64Array

    @property
    def n_folds(self) -> int:
        """Return the number of folds."""
        return len(self.names)

    def queries(self, fold: int) -> tuple[Int64Array, Int64Array]:
        """Return the positions of the training queries and of the held-out queries, each ascending."""
        return np.flatnonzero(self.fold_of != fold), np.flatnonzero(self.fold_of == fold)

    def documents(self, query_boundaries: Int64Array, fold: int) -> tuple[Int64Array, Int64Array]:
        """Return the rows of the training documents and of the held-out documents, each ascending."""
        held_out = np.repeat(self.fold_of == fold, np.diff(query_boundaries))
        return np.flatnonzero(~held_out), np.flatnonzero(held_out)

    def split(self, dataset: RankingDataset, fold: int) -> Split:
        """Return the dataset of all other folds, and the dataset of one fold."""
        training, held_out = self.queries(fold)
        return dataset.select_queries(training), dataset.select_queries(held_out)


@dataclass(frozen=True)
class RandomFolds:
    """k folds of about equal size, drawn with the seed of the job: `{"folds": 5}`."""

    is_random: ClassVar[bool] = True
    folds: int

    def assign(self, dataset: RankingDataset, seed: int) -> FoldAssignment:
        """Return the fold of each query; see `core.data.splits.fold_numbers`.

        Raises:
            InvalidInput: There are fewer queries than folds.
        """
        names = tuple(str(number) for number in range(1, self.folds + 1))
        return FoldAssignment(names, fold_numbers(dataset, self.folds, seed) - 1)


@dataclass(frozen=True)
class FoldColumn:
    """Folds named by a column of the queries: `{"fold_column": "fold"}`."""

    is_random: ClassVar[bool] = False
    fold_column: str

    def assign(self, dataset: RankingDataset, seed: int) -> FoldAssignment:
        """Return the fold of each query: every value of the column is a fold.

        Raises:
            InvalidInput: There is no such column, or it has fewer than 2 or more than 100 values.
        """
        values = query_column(dataset, self.fold_column, "/fold_column")
        names = sorted(set(values), key=_by_number)
        if not 2 <= len(names) <= MAX_FOLDS:
            raise InvalidInput.at(
                "/fold_column",
                f"must have 2 to {MAX_FOLDS} different values, one per fold; found {len(names)}",
            )
        position = {name: at for at, name in enumerate(names)}
        return FoldAssignment(
            tuple(names), np.fromiter(map(position.__getitem__, values), np.int64, len(values))
        )


Folds = RandomFolds | FoldColumn


def folds_of(values: Mapping[str, Any]) -> Folds | None:
    """Read the folds from the JSON of a job's `validation`; None where it is not cross-validation.

    Raises:
        InvalidInput: The number of folds is out of bounds.
    """
    match values:
        case {"fold_column": str(column)}:
            return FoldColumn(column)
        # With `fold`, the values are the hold-out of a single fold.
        case {"folds": int(folds)} if "fold" not in values:
            if not 2 <= folds <= MAX_FOLDS:
                raise InvalidInput.at("/folds", f"must be 2 to {MAX_FOLDS}; found {folds}")
            return RandomFolds(folds)
    return None


def _by_number(name: str) -> tuple[Sequence[float], str]:
    """Return a natural sort key: Fold2 sorts before Fold10."""
    digits = "".join(letter if letter.isdecimal() else " " for letter in name).split()
    return [float(number) for number in digits], name


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
