"""How a file is to be read: what an upload may ask for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from core.errors import InvalidInput

FORMATS = ("auto", "letor", "lightgbm", "csv", "parquet")
MAX_BYTES = 2**35  # 32 GiB of text, eight times MSLR-WEB30K
MAX_CELLS = 2**31  # 8 GiB of float32; MSLR-WEB30K has 5e8


@dataclass(frozen=True)
class Columns:
    """Which columns of a table mean what. What is left out is told by the usual names.

    Attributes:
        label: How relevant the document is.
        query: Which query it was judged for.
        document: What the document is called; may be absent.
        query_weight: How much its query counts; one value a query; may be absent.
        document_weight: How much the document counts for losses that weigh documents; may be absent.
        query_columns: Kept as text a query, one value a query; text columns are kept so by themselves.
        features: The features in their order; every other column of numbers where None.
        ignore: Left out.
    """

    label: str | None = None
    query: str | None = None
    document: str | None = None
    query_weight: str | None = None
    document_weight: str | None = None
    query_columns: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReadingOptions:
    """How to read a file of judged documents.

    Attributes:
        format: One of `FORMATS`; `auto` tells it by the content. `csv` is any delimited text.
        non_contiguous_queries: Whether a query whose rows do not stand together is gathered where it first
            appears ("regroup") or refused ("error").
        repeated_features: Whether a feature that comes twice in a LETOR row counts with its last value
            ("last", as TF-Ranking reads its own sample files) or is an error ("reject").
        columns: The meaning of a table's columns.
        feature_names: Names by feature id ("17") for LETOR and LightGBM text, by column for tables.
    """

    format: str = "auto"
    non_contiguous_queries: str = "regroup"
    repeated_features: str = "last"
    columns: Columns = field(default_factory=Columns)
    feature_names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        for name, choices in (
            ("format", FORMATS),
            ("non_contiguous_queries", ("regroup", "error")),
            ("repeated_features", ("last", "reject")),
        ):
            if getattr(self, name) not in choices:
                raise InvalidInput.at(
                    f"/{name}", f"must be one of {', '.join(choices)}; found {getattr(self, name)!r}"
                )


@dataclass(frozen=True)
class Limits:
    """How large what is read may become.

    Attributes:
        unpacked_bytes: The most bytes that a compressed file may unpack to.
        cells: The most documents times features to make room for.
    """

    unpacked_bytes: int = MAX_BYTES
    cells: int = MAX_CELLS
