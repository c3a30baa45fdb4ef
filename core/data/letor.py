"""LETOR (SVMlight with `qid`) text: `2 qid:10 1:0.5 3:1e-2 # docid = GX1`."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.data.dataset import RankingDataset
from core.data.file_text import FileText, span_texts
from core.data.letor_comments import document_columns
from core.data.options import Limits, ReadingOptions
from core.data.result import MAX_EXAMPLES, Grouping, Reading, group_rows, permute_rows
from core.data.rows import Rows
from core.data.texts import Texts, row_numbers
from core.data.trec.spelling import BLANK
from core.errors import MAX_PROBLEMS, DatasetError, InputProblem, InvalidInput, pointer_of
from core.text.bytes_kernel import Text
from core.types import Int32Array, Int64Array, OnProgress
from rankery.identifiers import EXPECTED, NormalisedIds, SeveralSpellings, normalise_column

_OTHER_BLANK = rf"{BLANK}|\\xa0"  # such as a no-break space; that of Latin-1 is escaped


def read_letor(
    text: Text,
    file: str,
    options: ReadingOptions | None = None,
    limits: Limits | None = None,
    *,
    threads: int = 1,
    on_progress: OnProgress | None = None,
) -> Reading:
    """Parse LETOR text.

    Features may have any order; absent features are 0, `nan` and `NULL` are missing, `inf` is infinite. Ids
    start at 1, or at 0 where a row has feature 0. Each feature is named by its id, so that names agree
    between files. Numbers are rounded to float64 and then to float32. A document's id is X of a comment
    `#docid = X` or `# X ...`, else its row number within the query. Pairs `key = value` of the comment
    become document columns, at most 32.

    Args:
        text: (n_bytes,) the bytes of the file, read-only.
        file: The file's name for error messages.
        options: How to treat scattered queries and repeated features; names of features by id.
        threads: Threads to use; the result is the same on any number.
        on_progress: Called with the number of bytes done and their total, several times a second; may
            raise to stop.

    Raises:
        DatasetError: With up to 100 invalid tokens, one per line.
        InvalidInput: `feature_names` names a feature that the file does not have, or makes two names
            equal.
    """
    options, source = options or ReadingOptions(), FileText(text, file)
    rows = Rows(
        source,
        has_queries=True,
        reject_repeated=options.repeated_features == "reject",
        limits=limits or Limits(),
        threads=threads,
        on_progress=on_progress,
    )
    spellings = SeveralSpellings()
    grouping = _group(source, rows, spellings)
    if grouping.scattered and options.non_contiguous_queries == "error":
        raise _scattered_error(source, rows, grouping)
    starts, lengths = rows.document_starts, rows.document_lengths
    features, labels = rows.features, rows.labels
    names = document_names(source, starts, lengths)
    if grouping.order is not None:
        permute_rows(features, grouping.order)
        labels, starts, lengths = labels[grouping.order], starts[grouping.order], lengths[grouping.order]
        names = names.take(pa.array(grouping.order))
    dataset = RankingDataset(
        features=features,
        labels=labels,
        query_boundaries=grouping.query_boundaries,
        query_ids=grouping.query_ids,
        document_ids=document_ids(names, grouping.query_boundaries),
        feature_names=feature_names(rows.first_id, features.shape[1], options.feature_names),
        document_columns=document_columns(source, starts + lengths) if rows.has_longer_comments else {},
    )
    return Reading(
        dataset,
        "letor",
        scattered_queries=len(grouping.scattered),
        scattered_examples=grouping.scattered_ids[:MAX_EXAMPLES],
        several_spellings=tuple(spellings.several),
        grouping=grouping,
        named=names.is_valid().to_numpy(zero_copy_only=False),
        size_bytes=text.size,
    )


def document_names(source: FileText, starts: Int64Array, lengths: Int32Array) -> Any:
    """Return the document ids of the comments, large_string (n_documents,), null where there is none.

    Raises:
        DatasetError: For comments that are not valid ids.
    """
    if not lengths.any():
        return pa.nulls(len(lengths), pa.large_string())
    return _normalised(source, span_texts(source, starts, lengths).array, starts, lengths).texts


def document_ids(names: Any, boundaries: Int64Array) -> Texts:
    """Return the document ids; a document without an id gets its row number in the query."""
    numbers = row_numbers(boundaries)
    if names.null_count == len(names):
        return numbers
    return Texts(pc.coalesce(names, numbers.array))


def feature_names(first_id: int, n_features: int, names_by_id: Mapping[str, str]) -> tuple[str, ...]:
    """Return the feature names: f1, f2, … or f0, f1, … by id, or the names in `names_by_id`.

    Raises:
        InvalidInput: For names of features that the file does not have, or equal names.
    """
    numbers = [str(first_id + column) for column in range(n_features)]
    unknown = sorted(set(names_by_id).difference(numbers))
    if unknown:
        detail = (
            f"must be a feature of the file, {numbers[0]} to {numbers[-1]}; the names of a list start at"
            " feature 1"
        )
        raise InvalidInput(*(InputProblem(pointer_of("feature_names", number), detail) for number in unknown))
    names = tuple(names_by_id.get(number, f"f{number}") for number in numbers)
    if len(set(names)) < len(names):
        raise InvalidInput.at("/feature_names", "must all be different")
    return names


def _group(source: FileText, rows: Rows, spellings: SeveralSpellings) -> Grouping:
    runs = np.flatnonzero(rows.query_starts)
    starts = rows.query_starts[runs]
    lengths = rows.query_lengths[runs]
    texts = pa.array(list(map(source.slice, starts.tolist(), (starts + lengths).tolist())), pa.large_string())
    has_blank = pc.match_substring_regex(texts, _OTHER_BLANK).to_numpy(zero_copy_only=False)
    if has_blank.any():  # the rest of the id may be a feature
        expected = "expected a space or a tab after the query id"
        raise _error_at(source, expected, np.flatnonzero(has_blank), starts, lengths)
    normalised = _normalised(source, texts, starts, lengths)
    spellings.take(texts, normalised)
    ids = normalised.texts
    if ids.null_count:
        missing = np.flatnonzero(ids.is_null().to_numpy(zero_copy_only=False))
        raise _error_at(source, "expected a query id", missing, starts, lengths)
    return group_rows(ids.to_pylist(), runs, len(rows.labels))


def _normalised(source: FileText, texts: Any, starts: Int64Array, lengths: Int32Array) -> NormalisedIds:
    ids = normalise_column(texts)
    if len(ids.invalid):
        raise _error_at(source, f"expected {EXPECTED}", ids.invalid, starts, lengths)
    return ids


def _error_at(
    source: FileText, expected: str, rows: Int64Array, starts: Int64Array, lengths: Int32Array
) -> DatasetError:
    listed = rows[:MAX_PROBLEMS].tolist()
    spans = [(expected, int(starts[row]), int(starts[row] + lengths[row])) for row in listed]
    return DatasetError(*source.errors(spans), more=len(rows) > MAX_PROBLEMS)


def _scattered_error(source: FileText, rows: Rows, grouping: Grouping) -> DatasetError:
    spans = []
    for query, _, row in grouping.scattered[:MAX_PROBLEMS]:
        start = int(rows.query_starts[row])
        expected = f"expected the rows of query {grouping.query_ids[query]!r} to be contiguous"
        spans.append((expected, start, start + int(rows.query_lengths[row])))
    return DatasetError(*source.errors(spans), more=len(grouping.scattered) > MAX_PROBLEMS)
