"""Read and write runs: retrieved documents in TREC's format, `qid Q0 docno rank score tag`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from core.data.compression import mapped_bytes
from core.data.content import binary_kind
from core.data.options import Limits
from core.data.result import Grouping
from core.data.texts import Texts
from core.data.trec.columns import WordColumns, group_queries
from core.errors import DatasetError
from core.types import Float64Array, Int64Array
from rankery.identifiers import encode_blanks

RUN_COLUMNS = ("qid", "Q0", "docno", "rank", "score", "tag")
_LOWEST_SCORE = -(2.0**127)  # float32 has 2^23 lower numbers, for scores that would tie with it


@dataclass(frozen=True, eq=False)
class Run:
    """The documents that a system retrieved, with their scores.

    Attributes:
        query_ids: Ids in the order of first appearance.
        query_boundaries: int64 (n_queries + 1,).
        document_ids: Id of each document, unique within a query.
        scores: (n_documents,) scores, which define the ranking; the ranks of the file are ignored.
    """

    query_ids: tuple[str, ...]
    query_boundaries: Int64Array
    document_ids: Texts
    scores: Float64Array

    @classmethod
    def from_columns(cls, query_ids: Any, document_ids: Any, scores: npt.ArrayLike) -> "Run":
        """Build a run from columns, gathered by query.

        Args:
            query_ids: (n_documents,) texts, an Arrow array or Python strings.
            document_ids: (n_documents,) texts.
            scores: (n_documents,) numbers.
        """
        return cls._of(group_queries(_texts(query_ids)), _texts(document_ids), np.asarray(scores, np.float64))

    @classmethod
    def _of(cls, grouping: Grouping, documents: Texts, scores: Float64Array) -> "Run":
        if grouping.order is not None:
            documents, scores = documents.take(grouping.order), scores[grouping.order]
        return cls(grouping.query_ids, grouping.query_boundaries, documents, scores)


def read_run(path: str | PathLike[str], name: str | None = None, limits: Limits | None = None) -> Run:
    """Read a run, plain or compressed with gzip or Zstandard.

    Ranks are ignored, as in trec_eval: the scores define the ranking. Words after the tag are ignored.

    Args:
        name: Name for messages.

    Raises:
        DatasetError: With up to 100 mistakes, each with its position. Mistakes are a line of fewer than six
            words, an invalid id, a query id with blanks, a score that is not finite, or a repeated document
            of a query.
        OSError: The file cannot be opened.
    """
    file = name or Path(path).name
    limits = limits or Limits()
    text = mapped_bytes(Path(path), file, limits, expected="a TREC run")
    if binary := binary_kind(text):
        raise DatasetError.at(f"expected a TREC run, but found {binary}", file=file)
    columns = WordColumns(text, file, RUN_COLUMNS, limits, more_words=True)
    columns.refuse_blanks_in_ids()
    scores = columns.numbers("score", "a score, a finite number")
    grouping, documents = group_queries(columns.identifiers("qid")), columns.identifiers("docno")
    columns.refuse_repeated(grouping.query_of_row, documents)
    return Run._of(grouping, documents, scores)


def write_run(batches: Iterable[pa.RecordBatch], tag: str) -> Iterator[str]:
    """Write a ranking as a run, a block of lines at a time.

    trec_eval ignores the rank, sorts by the score as float32 and breaks ties by document. To preserve the
    order, scores are rounded to float32. A score that would tie is lowered to the next float32 below the
    score before it. Nine digits distinguish all float32 numbers. Blanks in an identifier, which would shift
    the columns, are percent-encoded.

    Args:
        batches: Columns query_id, document_id, rank and score, sorted by query and rank.
    """
    query, previous = None, np.float32(np.inf)
    highest = np.finfo(np.float32).max
    for batch in batches:
        query_ids, document_ids, ranks, scores = (
            batch.column(name) for name in ("query_id", "document_id", "rank", "score")
        )
        rounded = np.clip(scores.to_numpy(), _LOWEST_SCORE, highest).astype(np.float32)
        lines = []
        for query_id, document_id, rank, score in zip(
            query_ids.to_pylist(), document_ids.to_pylist(), ranks.to_pylist(), rounded, strict=True
        ):
            if query_id == query and score >= previous:
                score = np.nextafter(previous, np.float32(-np.inf))
            query, previous = query_id, score
            ids = f"{encode_blanks(str(query_id))} Q0 {encode_blanks(str(document_id))}"
            lines.append(f"{ids} {rank} {score:.9g} {tag}\n")
        yield "".join(lines)


def _texts(values: Any) -> Texts:
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, pa.Array):
        texts: Any = pc.cast(values, pa.large_string())
        return Texts(texts)
    return Texts.of(values)
