"""Which columns a stored dataset has in Parquet, and how they are packed.

Columns `query_id`, `document_id`, `label`, `query_weight` and `document_weight` (only where there are any),
then `f1`, `f2`, ... in the order of the feature names and `q1`, `q2`, ... in the order of the query columns'
names. The schema's metadata hold both lists of names with the version of this layout. Version 1 knew neither
document weights nor query columns.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from core.data.dataset import RankingDataset, numbered_features
from core.errors import DatasetError

LAYOUT_VERSION = 2

_KEY = b"rankery"
_QUERY_TEXT: Any = pa.dictionary(pa.int32(), pa.string())
_WEIGHTS = ("query_weight", "document_weight")


@dataclass(frozen=True)
class Layout:
    """Which columns a file has.

    Attributes:
        version: Of this layout.
        feature_names: In the order of `feature_columns`.
        query_columns: Names, in the order of `text_columns`.
        weights: Which of `query_weight` and `document_weight` there are.
    """

    version: int
    feature_names: tuple[str, ...]
    query_columns: tuple[str, ...]
    weights: tuple[str, ...]

    @classmethod
    def of(cls, dataset: RankingDataset) -> "Layout":
        """Return the layout to write a dataset in."""
        given = zip(_WEIGHTS, (dataset.query_weights, dataset.document_weights), strict=True)
        weights = tuple(name for name, values in given if values is not None)
        return cls(LAYOUT_VERSION, dataset.feature_names, tuple(dataset.query_columns), weights)

    @classmethod
    def in_schema(cls, schema: pa.Schema) -> "Layout":
        """Return the layout of a stored file.

        Raises:
            DatasetError: When the file was not written by Rankery, or by a later version.
        """
        try:
            values: Mapping[str, Any] = json.loads((schema.metadata or {})[_KEY])
            version, feature_names = values["layout"], tuple(values["feature_names"])
        except (KeyError, TypeError, ValueError) as error:
            raise DatasetError.at(
                "expected a Parquet file written by Rankery, but found no layout in it"
            ) from error
        if version not in (1, LAYOUT_VERSION):
            raise DatasetError.at(f"expected layout version 1 to {LAYOUT_VERSION}, but found {version}")
        weights = tuple(name for name in _WEIGHTS if name in schema.names)
        layout = cls(version, feature_names, tuple(values.get("query_columns", ())), weights)
        if not schema.equals(layout.schema(), check_metadata=False):
            raise DatasetError.at("expected the columns of the layout in its order, but found others")
        return layout

    @property
    def feature_columns(self) -> tuple[str, ...]:
        """The columns that hold features."""
        return numbered_features(len(self.feature_names))

    @property
    def text_columns(self) -> dict[str, str]:
        """The names of the query columns, by the column that holds each."""
        return {f"q{number}": name for number, name in enumerate(self.query_columns, start=1)}

    def schema(self) -> pa.Schema:
        """Return the schema, metadata included."""
        columns: dict[str, Any] = {
            "query_id": _QUERY_TEXT,
            "document_id": pa.string() if self.version == 1 else pa.large_string(),
            "label": pa.float32(),
            **dict.fromkeys(self.weights, pa.float64()),
            **dict.fromkeys(self.feature_columns, pa.float32()),
            **dict.fromkeys(self.text_columns, _QUERY_TEXT),
        }
        names = {"feature_names": self.feature_names, "query_columns": self.query_columns}
        return pa.schema(
            [pa.field(name, kind, nullable=False) for name, kind in columns.items()],
            metadata={_KEY: json.dumps({"layout": self.version, **names}).encode()},
        )

    def packing(self) -> dict[str, Any]:
        """Return how Parquet is to encode and compress the columns."""
        # Features seldom repeat, so no dictionary; split by bytes LZ4 packs them as well as Zstandard, and
        # in a third less time.
        return {
            "compression": "lz4",
            "use_dictionary": ["query_id", "document_id", "label", *self.text_columns],
            "use_byte_stream_split": list(self.feature_columns),
            "write_statistics": False,
        }
