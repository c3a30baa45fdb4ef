"""Read files of judged documents of any format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from core.data.compression import mapped_bytes
from core.data.content import Content, content_of
from core.data.dataset import RankingDataset
from core.data.letor import read_letor
from core.data.lightgbm import read_lightgbm, read_query_sizes
from core.data.named_parquet import columns_of
from core.data.options import Columns, Limits, ReadingOptions
from core.data.result import Reading
from core.data.tables.agreement import AgreeingTable, TableColumns
from core.data.tables.assembly import read_table
from core.data.tables.delimited import DelimitedTable
from core.data.tables.parquet_file import ParquetTable
from core.data.tables.roles import unjudged_columns
from core.data.tables.table import Table
from core.data.trec.qrels import read_qrels
from core.errors import DatasetError
from core.types import OnProgress

_EXPECTED = {
    "auto": "LETOR, LightGBM, CSV or Parquet data, or TREC qrels",
    "letor": "LETOR text, lines such as '2 qid:1 1:0.5'",
    "lightgbm": "LightGBM data, lines such as '2 1:0.5' or '2,0.5'",
    "csv": "delimited text with the names of its columns in the first line",
    "parquet": "a Parquet file",
    "trec-qrels": "TREC qrels, lines such as 'q1 0 d7 2'",
}
# Detected formats that may be read as each requested format; the reader then reports invalid rows one by one.
_READABLE_AS = {
    "letor": ("letor", "lightgbm", "unknown"),
    "lightgbm": ("lightgbm", "letor", "csv", "unknown"),
    "csv": ("csv",),
    "parquet": ("parquet",),
    "trec-qrels": ("trec-qrels", "unknown", "csv"),
}


@dataclass(frozen=True)
class JudgedFile:
    """A file to read.

    Attributes:
        name: Name of the file in messages.
        query_sizes: Path of LightGBM's query file, if there is one.
        query_sizes_name: Name of the query file in messages; the name in its path if None.
    """

    path: Path
    name: str
    query_sizes: Path | None = None
    query_sizes_name: str | None = None


@dataclass(frozen=True)
class FileForm:
    """Format and columns shared by all files of a dataset.

    Attributes:
        format: letor, csv or parquet.
        columns: Columns of a table; None for LETOR text.
    """

    file: str
    format: str
    columns: TableColumns | None = None


def form_of_file(file: JudgedFile, options: ReadingOptions, limits: Limits) -> FileForm:
    """Detect the format and the columns of the first of several files.

    Raises:
        DatasetError: Files of this format cannot be joined.
    """
    text = mapped_bytes(file.path, file.name, limits)
    content = content_of(text, file.name)
    chosen = _format(content, file, options)
    if chosen == "letor":
        return FileForm(file.name, chosen)
    if chosen == "parquet":
        return FileForm(file.name, chosen, TableColumns.of(ParquetTable(text, file.name, limits)))
    if chosen == "csv":
        table = DelimitedTable(text, file.name, content.delimiter or ",")
        return FileForm(file.name, chosen, TableColumns.of(table))
    raise DatasetError.at(
        "several files can only be joined to a dataset if they are LETOR text, delimited text or Parquet, but"
        f" found {content.name}",
        file=file.name,
        line=content.line,
    )


def read_file(
    file: JudgedFile,
    options: ReadingOptions | None = None,
    limits: Limits | None = None,
    *,
    threads: int = 1,
    on_progress: OnProgress | None = None,
    form: FileForm | None = None,
) -> Reading:
    """Read judged documents from a file, and from its query file if there is one.

    Args:
        file: File to read. A plain file is memory-mapped and must not be truncated while it is read.
        options: Reading options; by default, the format is detected by the content.
        threads: Threads to use; the result is the same on any number.
        on_progress: Called with the number of bytes done and their total, several times a second; may
            raise to stop.
        form: Form of the first file, where the dataset has several files.

    Raises:
        DatasetError: With up to 100 mistakes, each with its position.
        InvalidInput: The options name features or columns that the file does not have.
        OSError: The file cannot be opened.
    """
    options, limits = options or ReadingOptions(), limits or Limits()
    text = mapped_bytes(file.path, file.name, limits, on_progress)
    content = content_of(text, file.name, has_query_sizes=file.query_sizes is not None)
    chosen = _format(content, file, options)
    if form is not None and chosen != form.format:
        expected = f"expected {_EXPECTED[form.format]}, as in {form.file}"
        raise DatasetError.at(f"{expected}, but found {content.name}", file=file.name, line=content.line)
    if chosen == "letor":
        return read_letor(text, file.name, options, limits, threads=threads, on_progress=on_progress)
    if chosen == "lightgbm":
        sizes = _query_sizes(file, limits)
        if content.delimiter is None:
            return read_lightgbm(
                text, file.name, sizes, options, limits, threads=threads, on_progress=on_progress
            )
        table = DelimitedTable(text, file.name, content.delimiter, may_lack_header=True)
        return read_table(table, options, limits, query_sizes=sizes, on_progress=on_progress)
    if chosen == "trec-qrels":
        return read_qrels(text, file.name, limits)
    judged: Table
    if chosen == "parquet":
        judged = ParquetTable(text, file.name, limits)
        if form is None and options.columns == Columns():  # a downloaded file stores its roles
            options = replace(options, columns=columns_of(judged.schema) or options.columns)
    else:
        judged = DelimitedTable(text, file.name, content.delimiter or ",")
    if form is not None and form.columns is not None:
        judged = AgreeingTable(judged, form.columns)
    return read_table(judged, options, limits, on_progress=on_progress)


def read_unjudged(file: JudgedFile, features: Sequence[str], columns: Columns | None = None) -> Reading:
    """Read documents that a model is to rank; tables need no labels, and label columns are ignored.

    A table of features and document ids alone is one query.

    Args:
        file: File to read, in any format that `read_file` takes.
        features: The model's features; other columns of a table are left out.
        columns: The query and document columns of a table, where they do not have usual names.

    Raises:
        DatasetError: A table has none of the features, or has no query column but columns of unknown
            meaning. For other errors of the file, see `read_file`.
    """
    limits = Limits()
    text = mapped_bytes(file.path, file.name, limits)
    content = content_of(text, file.name, has_query_sizes=file.query_sizes is not None)
    table: Table
    if content.format == "parquet":
        table = ParquetTable(text, file.name, limits)
    elif content.format == "csv" and file.query_sizes is None:
        table = DelimitedTable(text, file.name, content.delimiter or ",")
    else:
        return read_file(file, ReadingOptions(columns=columns or Columns()), limits)
    roles = unjudged_columns(table, features, columns or Columns())
    sizes = None if roles.query is not None else np.array([table.n_rows], np.int64)
    reading = read_table(table, ReadingOptions(columns=roles), limits, query_sizes=sizes, labelled=False)
    kinds = dict(zip(table.names, table.kinds(), strict=True))
    numbers = frozenset(name for name in roles.categorical_features if kinds[name] != "text")
    return replace(reading, number_categories=numbers)


def read_dataset(
    path: str | PathLike[str],
    format: str = "auto",
    *,
    name: str | None = None,
    query_sizes: str | PathLike[str] | None = None,
    columns: Columns | None = None,
    non_contiguous_queries: str = "regroup",
    repeated_features: str = "last",
    feature_names: Mapping[str, str] | None = None,
    threads: int = 1,
    limits: Limits | None = None,
) -> RankingDataset:
    """Read judged documents from a file; see `read_file` and `ReadingOptions`."""
    query_file = None if query_sizes is None else Path(query_sizes)
    file = JudgedFile(Path(path), name or Path(path).name, query_file)
    options = ReadingOptions(
        format=format,
        non_contiguous_queries=non_contiguous_queries,
        repeated_features=repeated_features,
        columns=columns or Columns(),
        feature_names=feature_names or {},
    )
    return read_file(file, options, limits, threads=threads).dataset


def _query_sizes(file: JudgedFile, limits: Limits) -> Any:
    if file.query_sizes is None:
        raise DatasetError.at(
            "expected qid:<query id> in each row, or a query file with the number of documents of each query,"
            f" named {file.name}.query, but found neither",
            file=file.name,
        )
    name = file.query_sizes_name or file.query_sizes.name
    return read_query_sizes(mapped_bytes(file.query_sizes, name, limits), name)


def _format(content: Content, file: JudgedFile, options: ReadingOptions) -> str:
    """Return the format to read: the requested format, or the detected format for `auto`."""
    requested = options.format
    if requested == "auto" and content.format == "csv" and file.query_sizes is not None:
        return "lightgbm"
    if requested == "auto" and content.format != "unknown":
        return content.format
    if requested != "auto" and content.format in _READABLE_AS[requested]:
        return requested
    raise DatasetError.at(
        f"expected {_EXPECTED[requested]}, but found {content.name}, beginning {content.text!r}"
        if content.text is not None
        else f"expected {_EXPECTED[requested]}, but found {content.name}",
        file=file.name,
        line=content.line,
        text=content.text,
    )
