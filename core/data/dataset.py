"""Judged documents grouped by query, as arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from core.data.categories import Categories, categories_of
from core.data.features import Features, SelectedFeatures, select_rows
from core.data.options import QUERY_TEXT
from core.data.texts import Texts, row_numbers
from core.errors import InvalidInput
from core.types import Float32Array, Float64Array, Int64Array
from rankery.identifiers import EXACT_LIMIT

_Number = TypeVar("_Number", bound=np.generic)


@dataclass(frozen=True, eq=False)
class RankingDataset:
    """Queries with their candidate documents and relevance labels.

    The documents of query q are the rows `query_boundaries[q]:query_boundaries[q + 1]`. Every query has a
    document and a unique id. Build one from your own arrays with `from_arrays`, which checks them.

    Attributes:
        features: float32 (n_documents, n_features), C-contiguous, possibly memory-mapped, or a selection of
            such a matrix; NaN = missing, infinities are kept. Judgments without features (qrels) have
            the shape (n_documents, 0); rankings can be evaluated on them.
        labels: float32 (n_documents,), never infinite. Labels are kept as judged: a job maps or refuses
            negative labels and NaN (not judged), see `core.data.labels`.
        query_boundaries: int64 (n_queries + 1,), strictly increasing from 0 to n_documents.
        query_ids: Id of each query, all different.
        query_weights: float64 (n_queries,), finite and >= 0, or None where all queries count the same.
        document_weights: float64 (n_documents,), finite and >= 0, or None; for example inverse
            propensities.
        query_columns: Metadata of each query, such as its market: texts by column name. The column
            `query_text` is the search text of the user.
        document_columns: Metadata of each document, (n_documents,) texts by column name, empty where
            missing. The columns `document_title` and `document_url` are shown to people.
        categories: Values of the categorical features by feature name. The columns of these features hold
            codes, NaN where a value is missing.
    """

    features: Features
    labels: Float32Array
    query_boundaries: Int64Array
    query_ids: tuple[str, ...]
    document_ids: Texts
    feature_names: tuple[str, ...]
    query_weights: Float64Array | None = None
    document_weights: Float64Array | None = None
    query_columns: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    document_columns: Mapping[str, Texts] = field(default_factory=lambda: MappingProxyType({}))
    categories: Mapping[str, Categories] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def matrix(self) -> Float32Array:
        """All features as one array; a selection is copied."""
        return np.asarray(self.features)

    @property
    def n_documents(self) -> int:
        """The number of judged documents over all queries."""
        return int(self.features.shape[0])

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return len(self.query_ids)

    @property
    def n_features(self) -> int:
        """The number of features of a document."""
        return int(self.features.shape[1])

    @classmethod
    def from_arrays(
        cls,
        features: npt.ArrayLike,
        labels: npt.ArrayLike,
        query_boundaries: npt.ArrayLike,
        *,
        query_ids: Sequence[str] | None = None,
        document_ids: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        query_weights: npt.ArrayLike | None = None,
        document_weights: npt.ArrayLike | None = None,
        query_columns: Mapping[str, Sequence[str]] | None = None,
        document_columns: Mapping[str, Sequence[str]] | None = None,
        categories: Mapping[str, Sequence[str]] | None = None,
    ) -> "RankingDataset":
        """Build a dataset from arrays and check that they fit together.

        Args:
            features: (n_documents, n_features).
            labels: (n_documents,).
            query_boundaries: (n_queries + 1,).
            query_ids: "1", "2", ... where left out.
            document_ids: The row number within the query, from 1, where left out.
            feature_names: "f1", "f2", ... where left out.
            query_weights: (n_queries,).
            document_weights: (n_documents,).
            query_columns: (n_queries,) texts per column.
            document_columns: (n_documents,) texts per column.
            categories: The values of each categorical feature; its column holds positions in this list.

        Raises:
            InvalidInput: For an argument whose shape or values break the rules of the attributes. Codes of
                categories are not checked.

        Example:
            >>> RankingDataset.from_arrays([[0.5], [0.1], [0.9]], [2, 0, 1], [0, 2, 3]).n_queries
            2
        """
        matrix = _float32_array("/features", features)
        _check_matrix(matrix)
        boundaries = _boundaries(query_boundaries, matrix.shape[0])
        n_queries = len(boundaries) - 1
        dataset = cls(
            features=matrix,
            labels=_float32_array("/labels", labels),
            query_boundaries=boundaries,
            query_ids=_names("/query_ids", query_ids, n_queries, ""),
            document_ids=row_numbers(boundaries)
            if document_ids is None
            else _document_ids(document_ids, matrix.shape[0]),
            feature_names=_names("/feature_names", feature_names, matrix.shape[1], "f"),
            query_weights=_weights("/query_weights", query_weights, n_queries),
            document_weights=_weights("/document_weights", document_weights, matrix.shape[0]),
            query_columns=_query_columns(query_columns or {}, n_queries),
            document_columns=_document_columns(document_columns or {}, matrix.shape[0]),
            categories=categories_of(categories or {}),
        )
        _check_categories(dataset)
        _check_labels(dataset.labels, dataset.n_documents)
        return dataset

    def select_queries(self, indices: npt.ArrayLike) -> "RankingDataset":
        """Select whole queries, in the given order; features are not copied.

        Args:
            indices: Positions of the queries, each at most once; negative positions count from the end.

        Raises:
            InvalidInput: There are no indices, an index is out of range, or an index is repeated.
        """
        chosen = _query_positions(indices, self.n_queries)
        lengths = np.diff(self.query_boundaries)[chosen]
        boundaries = np.zeros(len(chosen) + 1, np.int64)
        np.cumsum(lengths, out=boundaries[1:])
        if (np.diff(chosen) == 1).all():  # contiguous queries: slices, no copies
            span = slice(*self.query_boundaries[[chosen[0], chosen[-1] + 1]].tolist())
            rows: Any = span
            features: Features = (
                select_rows(self.features, np.arange(span.start, span.stop))
                if isinstance(self.features, SelectedFeatures)
                else self.features[span]
            )

            def select_texts(texts: Texts) -> Texts:
                return texts[span]
        else:
            starts = np.repeat(self.query_boundaries[chosen] - boundaries[:-1], lengths)
            rows = starts + np.arange(boundaries[-1])
            features = select_rows(self.features, rows)

            def select_texts(texts: Texts) -> Texts:
                return texts.take(rows)

        return RankingDataset(
            features=features,
            labels=self.labels[rows],
            query_boundaries=boundaries,
            query_ids=tuple(map(self.query_ids.__getitem__, chosen.tolist())),
            document_ids=select_texts(self.document_ids),
            feature_names=self.feature_names,
            query_weights=None if self.query_weights is None else self.query_weights[chosen],
            document_weights=None if self.document_weights is None else self.document_weights[rows],
            query_columns=MappingProxyType(
                {
                    name: tuple(map(column.__getitem__, chosen.tolist()))
                    for name, column in self.query_columns.items()
                }
            ),
            document_columns=MappingProxyType(
                {name: select_texts(column) for name, column in self.document_columns.items()}
            ),
            categories=self.categories,
        )

    @property
    def segment_columns(self) -> Mapping[str, tuple[str, ...]]:
        """Query columns that define segments: all but the query text."""
        return {name: values for name, values in self.query_columns.items() if name != QUERY_TEXT}

    @property
    def categorical_columns(self) -> tuple[int, ...]:
        """Columns of the categorical features."""
        return tuple(column for column, name in enumerate(self.feature_names) if name in self.categories)

    def with_features(
        self,
        features: Features,
        feature_names: tuple[str, ...],
        categories: Mapping[str, Categories] | None = None,
    ) -> "RankingDataset":
        """Return the same judged documents with another matrix.

        Args:
            features: (n_documents, n_features).
            categories: Categories of the categorical features; unchanged where left out.
        """
        available = self.categories if categories is None else categories
        kept = {name: available[name] for name in feature_names if name in available}
        return replace(
            self, features=features, feature_names=feature_names, categories=MappingProxyType(kept)
        )

    def with_labels(self, labels: Float32Array) -> "RankingDataset":
        """Return the same documents with other labels."""
        return replace(self, labels=labels)


def numbered_features(n_features: int) -> tuple[str, ...]:
    """Name the columns f1, f2, ... as LETOR numbers its features."""
    return tuple(f"f{number}" for number in range(1, n_features + 1))


def _numbers(pointer: str, values: npt.ArrayLike, kind: type[_Number]) -> npt.NDArray[_Number]:
    try:
        return np.ascontiguousarray(values, dtype=kind)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput.at(pointer, f"must be numbers in a regular array: {error}") from error


def _float32_array(pointer: str, values: npt.ArrayLike) -> Float32Array:
    with np.errstate(over="ignore"):  # overflow is reported below with its position
        rounded = _numbers(pointer, values, np.float32)
    if rounded is not values and np.isinf(rounded).any():
        overflows = np.argwhere(np.isinf(rounded) & np.isfinite(np.asarray(values, np.float64)))
        if len(overflows):
            position = "/".join(map(str, overflows[0]))
            raise InvalidInput.at(f"{pointer}/{position}", "must be within float32's range")
    return rounded


def _check_matrix(features: Float32Array) -> None:
    if features.ndim != 2 or not len(features):
        raise InvalidInput.at(
            "/features",
            "must have the shape (n_documents, n_features) with at least one document; found"
            f" {features.shape}",
        )


def _boundaries(query_boundaries: npt.ArrayLike, n_documents: int) -> Int64Array:
    offsets = _numbers("/query_boundaries", query_boundaries, np.float64)
    if not ((np.abs(offsets) < EXACT_LIMIT) & (offsets == np.floor(offsets))).all():
        raise InvalidInput.at("/query_boundaries", f"must be whole numbers below {EXACT_LIMIT:,}")
    boundaries = offsets.astype(np.int64)
    if boundaries.ndim != 1 or len(boundaries) < 2:
        raise InvalidInput.at(
            "/query_boundaries", f"must have the shape (n_queries + 1,); found {boundaries.shape}"
        )
    if boundaries[0] != 0 or boundaries[-1] != n_documents:
        raise InvalidInput.at(
            "/query_boundaries",
            f"must start at 0 and end at {n_documents}, the number of documents; found {boundaries[0]} to"
            f" {boundaries[-1]}",
        )
    falls = np.flatnonzero(np.diff(boundaries) <= 0)
    if len(falls):
        raise InvalidInput.at(
            f"/query_boundaries/{falls[0] + 1}",
            f"must be greater than the previous boundary; found {boundaries[falls[0] + 1]}"
            f" after {boundaries[falls[0]]}",
        )
    return boundaries


def _check_labels(labels: Float32Array, length: int) -> None:
    if labels.shape != (length,):
        raise InvalidInput.at("/labels", f"must have the shape ({length},); found {labels.shape}")
    wrong = np.flatnonzero(np.isinf(labels))
    if len(wrong):
        raise InvalidInput.at(f"/labels/{wrong[0]}", "must not be infinite in float32")


def _weights(pointer: str, weights: npt.ArrayLike | None, length: int) -> Float64Array | None:
    if weights is None:
        return None
    values = _numbers(pointer, weights, np.float64).copy()
    if values.shape != (length,):
        raise InvalidInput.at(pointer, f"must have the shape ({length},); found {values.shape}")
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(wrong):
        raise InvalidInput.at(
            f"{pointer}/{wrong[0]}", f"must be finite and at least 0; found {values[wrong[0]]}"
        )
    return values


def _query_columns(columns: Mapping[str, Sequence[str]], n_queries: int) -> Mapping[str, tuple[str, ...]]:
    for name, values in columns.items():
        if len(values) != n_queries:
            raise InvalidInput.at(
                f"/query_columns/{name}", f"must have {n_queries} texts, one per query; found {len(values)}"
            )
    return MappingProxyType({name: tuple(values) for name, values in columns.items()})


def _document_columns(columns: Mapping[str, Sequence[str]], n_documents: int) -> Mapping[str, Texts]:
    for name, values in columns.items():
        if len(values) != n_documents:
            raise InvalidInput.at(
                f"/document_columns/{name}",
                f"must have {n_documents} texts, one per document; found {len(values)}",
            )
    return MappingProxyType({name: Texts.of(values) for name, values in columns.items()})


def _check_categories(dataset: RankingDataset) -> None:
    for name, categories in dataset.categories.items():
        if name not in dataset.feature_names:
            raise InvalidInput.at(f"/categories/{name}", "is not a feature")
        if len(set(categories.values)) < len(categories.values):
            raise InvalidInput.at(f"/categories/{name}", "must all be different")


def _document_ids(ids: Sequence[str], count: int) -> Texts:
    if len(ids) != count:
        raise InvalidInput.at("/document_ids", f"must have {count} names; found {len(ids)}")
    return Texts.of(ids)


def _names(pointer: str, names: Sequence[str] | None, count: int, prefix: str) -> tuple[str, ...]:
    if names is None:
        return tuple(f"{prefix}{number}" for number in range(1, count + 1))
    if len(names) != count:
        raise InvalidInput.at(pointer, f"must have {count} names; found {len(names)}")
    if len(set(names)) < count:
        raise InvalidInput.at(pointer, "must all be different")
    return tuple(names)


def _query_positions(indices: npt.ArrayLike, n_queries: int) -> Int64Array:
    chosen = np.asarray(indices)
    if chosen.ndim != 1 or not len(chosen) or not np.issubdtype(chosen.dtype, np.integer):
        raise InvalidInput.at("/indices", "must be a list of one or more query positions")
    if chosen.min() < -n_queries or chosen.max() >= n_queries:
        raise InvalidInput.at("/indices", f"must be positions of the {n_queries} queries of the dataset")
    positions = chosen.astype(np.int64) % n_queries
    if len(np.unique(positions)) < len(positions):
        raise InvalidInput.at("/indices", "must list each query at most once")
    return positions
