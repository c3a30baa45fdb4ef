"""Columns of a stored dataset in Parquet, and their encoding.

The columns are `query_id`, `document_id`, `label`, and `query_weight` and `document_weight` where the
dataset has weights. They are followed by `f1`, `f2`, ... (features), `q1`, `q2`, ... (query columns) and
`d1`, `d2`, ... (document columns). The schema's metadata hold the lists of names in this order, the values of
categorical features and the version of the layout. Version 1 had neither document weights nor query columns,
version 2 no document columns, version 3 no categories.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from core.data.categories import values_by_feature
from core.data.dataset import RankingDataset, numbered_features
from core.errors import DatasetError

LAYOUT_VERSION = 4

_KEY = b"rankery"
_DICTIONARY_TEXT: Any = pa.dictionary(pa.int32(), pa.string())
_WEIGHTS = ("query_weight", "document_weight")


@dataclass(frozen=True)
class Layout:
    """Columns of a stored dataset.

    Attributes:
        feature_names: In the order of `feature_columns`.
        query_columns: Names, in the order of `text_columns`.
        weights: The weight columns of the file: `query_weight`, `document_weight`, both or neither.
        document_columns: Names, in the order of `document_text_columns`.
        categories: Values of the categorical features by name.
    """

    version: int
    feature_names: tuple[str, ...]
    query_columns: tuple[str, ...]
    weights: tuple[str, ...]
    document_columns: tuple[str, ...] = ()
    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, dataset: RankingDataset) -> "Layout":
        """Return the layout of a dataset that is to be written."""
        weights_by_name = zip(_WEIGHTS, (dataset.query_weights, dataset.document_weights), strict=True)
        weights = tuple(name for name, values in weights_by_name if values is not None)
        # Workers of earlier releases can read files without document columns or categories, too.
        version = LAYOUT_VERSION if dataset.categories else 3 if dataset.document_columns else 2
        columns = tuple(dataset.query_columns), weights, tuple(dataset.document_columns)
        return cls(version, dataset.feature_names, *columns, values_by_feature(dataset.categories))

    @classmethod
    def in_schema(cls, schema: pa.Schema) -> "Layout":
        """Return the layout of a stored file.

        Raises:
            DatasetError: The file was not written by Rankery, or was written by a later version.
        """
        try:
            values: Mapping[str, Any] = json.loads((schema.metadata or {})[_KEY])
            version, feature_names = values["layout"], tuple(values["feature_names"])
            categories = {name: list(map(str, each)) for name, each in values.get("categories", {}).items()}
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise DatasetError.at(
                "expected a Parquet file written by Rankery, but found no layout in it"
            ) from error
        if version not in range(1, LAYOUT_VERSION + 1):
            raise DatasetError.at(f"expected layout version 1 to {LAYOUT_VERSION}, but found {version}")
        weights = tuple(name for name in _WEIGHTS if name in schema.names)
        columns = tuple(values.get("query_columns", ())), weights, tuple(values.get("document_columns", ()))
        layout = cls(version, feature_names, *columns, categories)
        if not schema.equals(layout.schema(), check_metadata=False):
            raise DatasetError.at("expected the columns of the layout in order, but found other columns")
        return layout

    @property
    def feature_columns(self) -> tuple[str, ...]:
        """The columns that hold features."""
        return numbered_features(len(self.feature_names))

    @property
    def text_columns(self) -> dict[str, str]:
        """The names of the query columns, by the column that holds each."""
        return {f"q{number}": name for number, name in enumerate(self.query_columns, start=1)}

    @property
    def document_text_columns(self) -> dict[str, str]:
        """The names of the document columns, by the column that holds each."""
        return {f"d{number}": name for number, name in enumerate(self.document_columns, start=1)}

    def schema(self) -> pa.Schema:
        """Return the schema, metadata included."""
        columns: dict[str, Any] = {
            "query_id": _DICTIONARY_TEXT,
            "document_id": pa.string() if self.version == 1 else pa.large_string(),
            "label": pa.float32(),
            **dict.fromkeys(self.weights, pa.float64()),
            **dict.fromkeys(self.feature_columns, pa.float32()),
            **dict.fromkeys(self.text_columns, _DICTIONARY_TEXT),
            **dict.fromkeys(self.document_text_columns, pa.large_string()),
        }
        names: dict[str, Any] = {"feature_names": self.feature_names, "query_columns": self.query_columns}
        if self.document_columns:
            names["document_columns"] = self.document_columns
        if self.categories:
            names["categories"] = self.categories
        return pa.schema(
            [pa.field(name, kind, nullable=False) for name, kind in columns.items()],
            metadata={_KEY: json.dumps({"layout": self.version, **names}).encode()},
        )

    def encoding(self) -> dict[str, Any]:
        """Return the encoding and compression of the columns."""
        # No dictionary encoding of features, as their values seldom repeat. With byte-stream split, LZ4
        # compresses as well as Zstandard, in a third less time.
        return {
            "compression": "lz4",
            "use_dictionary": ["query_id", "document_id", "label", *self.text_columns],
            "use_byte_stream_split": list(self.feature_columns),
            "write_statistics": False,
        }
