"""Part of a dataset for one rank, and its arrays, as messages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.data import RankingDataset
from core.data.categories import categories_of
from core.data.features import SelectedFeatures
from core.data.stored_features import StoredFeatures
from core.data.texts import Texts
from core.types import Float32Array, Float64Array, Int32Array, Int64Array


@dataclass(frozen=True, eq=False)
class Part:
    """Contiguous queries of a dataset.

    Attributes:
        url: URL of the stored Parquet file of the features.
        rows: (n_documents,) rows of the file.
        columns: (n_features,) columns of the file's features, -1 for a missing feature.
        labels: (n_documents,) float32.
        query_boundaries: (n_queries + 1,) from 0.
        document_ids: (n_documents,).
        query_weights: (n_queries,), or None.
        document_weights: (n_documents,), or None.
        first_query: Position of the first query in the whole dataset.
    """

    url: str
    rows: Int64Array
    columns: Int64Array
    absent: float
    labels: Float32Array
    query_boundaries: Int64Array
    document_ids: Texts
    query_weights: Float64Array | None
    document_weights: Float64Array | None
    first_query: int
    all_queries: int

    @classmethod
    def of(cls, dataset: RankingDataset, features: SelectedFeatures, url: str, queries: slice) -> "Part":
        """Return the part of a dataset with a range of queries.

        Args:
            features: Features of the dataset as rows and columns of the stored file.
        """
        first, last = dataset.query_boundaries[[queries.start, queries.stop]].tolist()
        rows = slice(first, last)
        weights, document_weights = dataset.query_weights, dataset.document_weights
        return cls(
            url,
            features.rows[rows],
            features.columns,
            features.absent,
            dataset.labels[rows],
            dataset.query_boundaries[queries.start : queries.stop + 1] - first,
            dataset.document_ids[rows],
            None if weights is None else weights[queries],
            None if document_weights is None else document_weights[rows],
            queries.start,
            dataset.n_queries,
        )

    def as_message(self) -> dict[str, Any]:
        """Serialize the part for a message."""
        arrays = ("rows", "columns", "labels", "query_boundaries", "query_weights", "document_weights")
        return {
            "url": self.url,
            "absent": self.absent,
            "document_ids": packed_texts(self.document_ids),
            "first_query": self.first_query,
            "all_queries": self.all_queries,
            **{name: packed(getattr(self, name)) for name in arrays},
        }

    @classmethod
    def from_message(cls, message: Mapping[str, Any]) -> "Part":
        """Deserialize a part from the result of `as_message`."""
        scalars = ("url", "absent", "first_query", "all_queries")
        arrays = message.keys() - {*scalars, "document_ids"}
        return cls(
            document_ids=unpacked_texts(message["document_ids"]),
            **{name: message[name] for name in scalars},
            **{name: unpacked(message[name]) for name in arrays},
        )

    def dataset(self, feature_names: tuple[str, ...], categories: Mapping[str, list[str]]) -> RankingDataset:
        """Return the part as a dataset whose features are read from the file on access."""
        features: Any = StoredFeatures(self.url, self.rows, self.columns, self.absent)
        return RankingDataset(
            features=features,
            labels=self.labels,
            query_boundaries=self.query_boundaries,
            # No rank needs the ids.
            query_ids=("",) * (len(self.query_boundaries) - 1),
            document_ids=self.document_ids,
            feature_names=feature_names,
            query_weights=self.query_weights,
            document_weights=self.document_weights,
            categories=categories_of(categories),
        )


def sample_within(sample: Int32Array, first: int, last: int) -> Int64Array:
    """Return the positions, relative to `first`, of the sampled documents in first:last."""
    begin, end = np.searchsorted(sample, [first, last])
    return sample[begin:end].astype(np.int64) - first


def packed(array: npt.NDArray[Any] | None) -> dict[str, Any] | None:
    """Return an array of one or two dimensions as part of a message; return None for None."""
    if array is None:
        return None
    return {
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "data": np.ascontiguousarray(array).tobytes(),
    }


def unpacked(message: Mapping[str, Any] | None) -> Any:
    """Return the array of a message that `packed` returned, None for None."""
    if message is None:
        return None
    # A copy, which is writable and does not keep the message alive.
    return np.frombuffer(message["data"], message["dtype"]).reshape(message["shape"]).copy()


def packed_texts(texts: Texts) -> dict[str, Any]:
    """Return texts as part of a message."""
    offsets, data = texts.buffers()
    return {"offsets": packed(offsets), "data": packed(data)}


def unpacked_texts(message: Mapping[str, Any]) -> Texts:
    """Return the texts of a message that `packed_texts` returned."""
    return Texts.of_buffers(unpacked(message["offsets"]), unpacked(message["data"]))
