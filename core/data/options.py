"""Reading options of an upload."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, get_args

from core.errors import DatasetError, InputProblem, InvalidInput, pointer_of
from core.names import did_you_mean, is_visible

DatasetFormat = Literal["auto", "letor", "lightgbm", "csv", "parquet", "trec-qrels"]
FORMATS: tuple[DatasetFormat, ...] = get_args(DatasetFormat)
CHOICES = MappingProxyType(
    {
        "format": FORMATS,
        "non_contiguous_queries": ("regroup", "error"),
        "repeated_features": ("last", "reject"),
    }
)
QUERY_TEXT, DOCUMENT_TITLE, DOCUMENT_URL = "query_text", "document_title", "document_url"
# The query and document columns that store these texts have the names of the roles.
TEXT_ROLES = (QUERY_TEXT, DOCUMENT_TITLE, DOCUMENT_URL)
ROLES = ("label", "query", "document", "query_weight", "document_weight", *TEXT_ROLES)
COLUMN_LISTS = ("query_columns", "document_columns", "features", "categorical_features", "ignore")
MAX_BYTES = 2**35  # 32 GiB of text, eight times MSLR-WEB30K
MAX_RATIO = 200  # LETOR text compresses four to ten times, columns with few values fifty times
FREE_BYTES = 2**26  # the ratio does not limit files of at most this uncompressed size
FREE_TABLE_BYTES = 2**30  # the ratio does not limit datasets of at most this size in memory
_FEATURE_BYTES = 4
_DOCUMENT_BYTES = 64  # approximate size of label, query id and document id
MAX_DOCUMENTS = 2**27  # thirty times MSLR-WEB30K
MAX_FEATURES = 100_000


@dataclass(frozen=True)
class Columns:
    """Roles of the columns of a table; roles left out are detected by the usual names.

    Attributes:
        document: Id of the document; may be absent.
        query_weight: Weight of the query; one value per query; may be absent.
        document_weight: Weight of the document in the loss; may be absent.
        query_text: Search text, shown beside the query's id; one value per query; may be absent.
        document_title: Shown beside the document's id; may be absent.
        document_url: The URL that the title links to; may be absent.
        query_columns: Metadata of the queries, stored as text, one value per query. Text columns without
            another role are query columns by default.
        document_columns: Metadata of the documents, stored as text.
        features: The features in order; None means all other columns of numbers, and an empty list that there
            are none, as in judgments for TREC runs.
        categorical_features: Features whose values are categories, given as texts or whole numbers. Those
            that are also in `features` have their position there, and others follow; where `features` is
            None, they are in the order of the table.
        ignore: Columns that are not read.
    """

    label: str | None = None
    query: str | None = None
    document: str | None = None
    query_weight: str | None = None
    document_weight: str | None = None
    query_text: str | None = None
    document_title: str | None = None
    document_url: str | None = None
    query_columns: tuple[str, ...] = ()
    document_columns: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None
    categorical_features: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        problems = []
        first: dict[str, str] = {}
        for pointer, name in self.pointers_and_names():
            earlier = first.setdefault(name, pointer)
            is_category = "/categorical_features/" in pointer and "/features/" in earlier
            if earlier != pointer and not is_category:
                detail = f"column {name!r} already has the role {earlier}"
                problems.append(InputProblem(pointer, detail))
        if problems:
            raise InvalidInput(*problems)

    def pointers_and_names(self) -> Iterator[tuple[str, str]]:
        """Yield the JSON pointer and the column name of each column that has a role."""
        for role in ROLES:
            name = getattr(self, role)
            if name is not None:
                yield f"/columns/{role}", name
        for part in COLUMN_LISTS:
            for i, name in enumerate(getattr(self, part) or ()):
                yield f"/columns/{part}/{i}", name


@dataclass(frozen=True)
class ReadingOptions:
    """Options for reading a file of judged documents.

    Attributes:
        format: One of `FORMATS`; `auto` detects it by the content. `csv` is any delimited text.
        non_contiguous_queries: "regroup" gathers the rows of a non-contiguous query where it first appears,
            "error" refuses the file.
        repeated_features: Treatment of a feature that is repeated in a LETOR row. "last" uses its last value,
            as TF-Ranking does with its sample files. "reject" refuses the file.
        feature_names: Names by feature id ("17") for LETOR and LightGBM text, by column for tables.
    """

    format: str = "auto"
    non_contiguous_queries: str = "regroup"
    repeated_features: str = "last"
    columns: Columns = field(default_factory=Columns)
    feature_names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        problems = [
            InputProblem(f"/{name}", f"must be one of {', '.join(choices)}; found {getattr(self, name)!r}")
            for name, choices in CHOICES.items()
            if getattr(self, name) not in choices
        ]
        if problems:
            raise InvalidInput(*problems)


@dataclass(frozen=True)
class Limits:
    """Size limits of a file and its dataset.

    Attributes:
        unpacked_bytes: Maximum size of an unpacked file, in bytes.
        unpacked_ratio: Maximum ratio of unpacked to compressed size, for more than 64 MiB of unpacked bytes.
            Also the maximum ratio of the dataset's arrays to the file, for arrays of more than 1 GiB.
        documents: Maximum number of documents.
        features: Maximum number of features and of table columns, and maximum feature id of LETOR text.
    """

    unpacked_bytes: int = MAX_BYTES
    unpacked_ratio: int = MAX_RATIO
    documents: int = MAX_DOCUMENTS
    features: int = MAX_FEATURES

    def unpacked(self, compressed_bytes: int) -> int:
        """Return the maximum unpacked size, in bytes, of a compressed file of this size."""
        return min(self.unpacked_bytes, max(FREE_BYTES, self.unpacked_ratio * compressed_bytes))

    def in_memory(self, file_bytes: int) -> int:
        """Return the maximum size in memory, in bytes, of the dataset of a file of this size."""
        return max(FREE_TABLE_BYTES, self.unpacked_ratio * file_bytes)

    def oversize(self, n_documents: int, n_features: int, file_bytes: int) -> str | None:
        """Return an error message if the feature matrix would be too large to allocate, else None.

        Args:
            file_bytes: Size of the file, after unpacking gzip or Zstandard data.
        """
        size_bytes = n_documents * (_FEATURE_BYTES * n_features + _DOCUMENT_BYTES)
        if size_bytes <= self.in_memory(file_bytes):
            return None
        expected = f"expected a dataset of at most {self.in_memory_text(file_bytes)}"
        return (
            f"{expected}, but {n_documents:,} documents by {n_features:,} features take {size_bytes:,} bytes"
        )

    def in_memory_text(self, file_bytes: int) -> str:
        """Describe the limit of `in_memory`, and the setting that raises it, for a message."""
        limit = self.in_memory(file_bytes)
        times = "" if limit == FREE_TABLE_BYTES else f", {self.unpacked_ratio} times the file's size"
        return f"{limit:,} bytes{times} (RANKERY_MAX_UNPACKED_RATIO)"

    def check_documents(self, documents: int, file: str) -> None:
        """Refuse too many documents before memory is allocated.

        Raises:
            DatasetError: There are more documents than the limit.
        """
        if documents > self.documents:
            expected = f"expected at most {self.documents:,} documents, but found {documents:,}"
            raise DatasetError.at(expected, file=file)


def reading_options(values: Mapping[str, Any]) -> ReadingOptions:
    """Build options from the JSON of an upload.

    `feature_names` may also be a list with the names of features 1, 2, ...

    Raises:
        InvalidInput: With a JSON pointer to each invalid value.
    """
    problems = [
        InputProblem(pointer_of(name), f"unknown; known here: {', '.join(_MEMBERS)}")
        for name in values
        if name not in _MEMBERS
    ]
    values_by_name = {name: value for name, value in values.items() if name in _MEMBERS and value is not None}
    readers = {"columns": _columns, "feature_names": _feature_names}
    for name, read in readers.items():
        if name in values_by_name:
            try:
                values_by_name[name] = read(values_by_name[name])
            except InvalidInput as invalid:
                problems += invalid.problems
                del values_by_name[name]
    try:
        options = ReadingOptions(**values_by_name)
    except InvalidInput as invalid:
        problems += invalid.problems
    if problems:
        raise InvalidInput(*problems)
    return options


_MEMBERS = (*CHOICES, "columns", "feature_names")


def _columns(values: Any) -> Columns:
    if not isinstance(values, Mapping):
        raise InvalidInput.at("/columns", 'must be an object such as {"label": "grade"}')
    problems = []
    roles: dict[str, Any] = {}
    for name, value in values.items():
        pointer = pointer_of("columns", name)
        if name not in (*ROLES, *COLUMN_LISTS):
            known = (*ROLES, *COLUMN_LISTS)
            hint = did_you_mean(name, known) or f"known here: {', '.join(known)}"
            problems.append(InputProblem(pointer, f"unknown; {hint}"))
        elif value is None:
            continue
        elif name in ROLES and not isinstance(value, str):
            problems.append(InputProblem(pointer, "must be the name of a column"))
        elif name in COLUMN_LISTS and not _are_texts(value):
            problems.append(InputProblem(pointer, "must be a list of column names"))
        else:
            roles[name] = value if name in ROLES else tuple(value)
    if problems:
        raise InvalidInput(*problems)
    return Columns(**roles)


def _feature_names(values: Any) -> Mapping[str, str]:
    if _are_texts(values):
        values = {str(number): name for number, name in enumerate(values, start=1)}
    if not isinstance(values, Mapping):
        raise InvalidInput.at("/feature_names", 'must be an object such as {"1": "bm25"}, or a list of names')
    problems = []
    owners: dict[Any, str] = {}
    for feature, name in values.items():
        pointer = pointer_of("feature_names", feature)
        if not isinstance(name, str) or not name:
            problems.append(InputProblem(pointer, "must be a name"))
        elif not is_visible(name):
            problems.append(InputProblem(pointer, "must not contain control or invisible characters"))
        elif name in owners:
            problems.append(
                InputProblem(pointer, f"{name!r} is already the name of feature {owners[name]!r}")
            )
        else:
            owners[name] = feature
    if problems:
        raise InvalidInput(*problems)
    return MappingProxyType(dict(values))


def _are_texts(values: Any) -> bool:
    return isinstance(values, list | tuple) and all(isinstance(value, str) for value in values)
