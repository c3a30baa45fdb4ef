"""Join the weights and columns of queries whose rows are in several files of a dataset."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from core.data.dataset import RankingDataset
from core.data.part_files.part import Part
from core.data.tables.table import line_unit
from core.errors import DatasetError, DatasetProblem
from core.names import shortened
from core.types import Float64Array, Int64Array

_WEIGHT = "query_weight"
_MAX_PROBLEMS = 100


class QueryValues:
    """Weights and columns of queries, which must have the same value in all parts.

    Args:
        n_queries: Number of queries of the joined dataset.
    """

    def __init__(self, n_queries: int) -> None:
        self._n_queries = n_queries
        self._values: dict[str, list[Any]] = {}
        self._weights: list[float | None] | None = None
        self._files: list[str] = []
        self._first_file = np.full(n_queries, -1, np.int64)
        self._problems: list[DatasetProblem] = []

    @property
    def weights(self) -> Float64Array | None:
        """(n_queries,) weights, None where there are none."""
        return None if self._weights is None else np.array(self._weights, np.float64)

    @property
    def columns(self) -> Mapping[str, tuple[str, ...]]:
        """The texts of the queries by name of the column."""
        return MappingProxyType({name: tuple(values) for name, values in self._values.items()})

    def add(self, part: Part, dataset: RankingDataset, queries: Int64Array) -> None:
        """Add the values of a part.

        Args:
            part: The part.
            dataset: The dataset of the part.
            queries: (n_queries of the part,) their positions in the joined dataset.
        """
        self._files.append(part.file)
        if dataset.query_weights is not None:
            self._weights = self._weights or [None] * self._n_queries
            self._merge(part, _WEIGHT, self._weights, dataset.query_weights.tolist(), queries)
        for name, values in dataset.query_columns.items():
            joined = self._values.setdefault(name, [None] * self._n_queries)
            self._merge(part, name, joined, values, queries)
        is_new = self._first_file[queries] < 0
        self._first_file[queries[is_new]] = len(self._files) - 1

    def raise_problems(self) -> None:
        """Raise the collected problems, if any.

        Raises:
            DatasetError: A query has different values in several parts.
        """
        if self._problems:
            raise DatasetError(*self._problems[:_MAX_PROBLEMS], more=len(self._problems) > _MAX_PROBLEMS)

    def _merge(self, part: Part, name: str, joined: list[Any], values: Any, queries: Int64Array) -> None:
        """Store the values of a part in `joined`, and record those that differ from an earlier part's."""
        for query_of_part, (query, value) in enumerate(zip(queries.tolist(), values, strict=True)):
            if joined[query] is None:
                joined[query] = value
            elif joined[query] != value and len(self._problems) <= _MAX_PROBLEMS:
                earlier = f"{shortened(str(joined[query]))} in {self._files[self._first_file[query]]}"
                text = shortened(str(value))
                self._problems.append(_different_values(part, name, query_of_part, text, earlier))


def _different_values(part: Part, name: str, query: int, value: str, earlier: str) -> DatasetProblem:
    row = int(part.run_starts[np.argmax(part.run_queries == query)])
    query_id = shortened(part.query_ids[query])
    return DatasetProblem(
        f"expected one value of {name!r} in query {query_id!r} in all files, but found {value!r} after"
        f" {earlier}",
        part.file,
        row + 1 if part.format == "parquet" else None,
        name,
        value,
        line_unit(part.format),
    )
