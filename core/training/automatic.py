"""Hyperparameters chosen by the size of a dataset."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from core.errors import InputProblem, InvalidInput
from core.stored import entry

_NUM_LEAVES_BOUNDS = (2, 255)
_LEAVES_PER_FEATURE = 4
_MIN_DATA_IN_LEAF_BOUNDS = (20, 100)
_EQUAL_LEAVES = 20  # number of leaves of equal size that min_data_in_leaf allows
_LARGE_DATASET = 10_000  # documents
_LEARNING_RATE, _LARGE_LEARNING_RATE = 0.05, 0.1
_NUM_ITERATIONS_BOUNDS = (20, 300)
_DOCUMENTS_PER_ITERATION = 5
_ITERATIONS_PER_QUERY = 4


@dataclass(frozen=True)
class DatasetSize:
    """The size of a dataset, before parts are held out.

    Attributes:
        queries: Number of queries, at least 1.
        documents: Number of documents, at least 1.
        features: Number of features that the model may use, at least 1.
    """

    queries: int
    documents: int
    features: int

    def __post_init__(self) -> None:
        problems = [
            InputProblem(f"/{name}", f"must be at least 1; found {value}")
            for name, value in asdict(self).items()
            if value < 1
        ]
        if problems:
            raise InvalidInput(*problems)


@dataclass(frozen=True)
class AutomaticChoice:
    """Hyperparameters chosen by the size of the dataset of a training.

    Attributes:
        chosen: Chosen values by name, without the hyperparameters that the request gives.
    """

    size: DatasetSize = entry(flat=True)
    chosen: Mapping[str, int | float] = entry(read=dict)

    @classmethod
    def of(cls, size: DatasetSize, hyperparameters: Mapping[str, Any]) -> "AutomaticChoice":
        """Choose the hyperparameters that are not given.

        Example:
            >>> dict(AutomaticChoice.of(DatasetSize(201, 3_005, 300), {"num_leaves": 15}).chosen)
            {'min_data_in_leaf': 100, 'learning_rate': 0.05, 'num_iterations': 300}
        """
        chosen = {
            name: value
            for name, value in hyperparameters_by_size(size).items()
            if name not in hyperparameters
        }
        return cls(size, chosen)

    @classmethod
    def for_dataset(
        cls,
        statistics: Mapping[str, Any] | None,
        features: Mapping[str, Any] | None,
        hyperparameters: Mapping[str, Any],
    ) -> "AutomaticChoice":
        """Choose the hyperparameters that are not given, by the size of a dataset.

        Args:
            statistics: Statistics of the dataset, see `core.data.dataset_statistics`.
            features: The requested features to use or to leave out, or None.
            hyperparameters: The hyperparameters of the request, by name.

        Raises:
            InvalidInput: The dataset was stored without counts.
        """
        if statistics is None:
            raise InvalidInput.at(
                "/hyperparameters/auto",
                "the dataset was stored without counts of queries and documents; set numbers instead of auto",
            )
        choice = features or {}
        count = statistics["features"] - len(choice.get("leave_out") or ())
        if choice.get("use"):
            count = len(choice["use"])
        return cls.of(
            DatasetSize(statistics["queries"], statistics["documents"], max(count, 1)), hyperparameters
        )


def hyperparameters_by_size(size: DatasetSize) -> dict[str, int | float]:
    """Return leaves, documents in a leaf, learning rate and iterations for a dataset.

    With q queries, d documents and f features:

    - `num_leaves` is the cube root of d; at most 4 f, and from 2 to 255;
    - `min_data_in_leaf` is d / 20, from 20 to 100;
    - `learning_rate` is 0.05 where d < 10,000, else 0.1;
    - `num_iterations` is the lesser of d / 5 and 4 q, from 20 to 300.

    Fractions are rounded to the nearest whole number. On small datasets `min_data_in_leaf` limits the trees,
    because smaller leaves fit the noise of single documents; `make bench-auto` measures the rule.

    Example:
        >>> hyperparameters_by_size(DatasetSize(queries=45, documents=782, features=5))
        {'num_leaves': 9, 'min_data_in_leaf': 39, 'learning_rate': 0.05, 'num_iterations': 156}
    """
    queries, documents, features = size.queries, size.documents, size.features
    leaves = min(round(math.cbrt(documents)), _LEAVES_PER_FEATURE * features)
    iterations = min(round(documents / _DOCUMENTS_PER_ITERATION), _ITERATIONS_PER_QUERY * queries)
    is_large = documents >= _LARGE_DATASET
    return {
        "num_leaves": _within(leaves, _NUM_LEAVES_BOUNDS),
        "min_data_in_leaf": _within(round(documents / _EQUAL_LEAVES), _MIN_DATA_IN_LEAF_BOUNDS),
        "learning_rate": _LARGE_LEARNING_RATE if is_large else _LEARNING_RATE,
        "num_iterations": _within(iterations, _NUM_ITERATIONS_BOUNDS),
    }


def _within(value: int, bounds: tuple[int, int]) -> int:
    low, high = bounds
    return max(low, min(value, high))
