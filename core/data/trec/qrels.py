"""Read and write qrels: relevance judgments in TREC's format, `qid iteration docno relevance`."""

import math
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from core.data.compression import Bytes
from core.data.dataset import RankingDataset
from core.data.labels import label_text
from core.data.options import Limits
from core.data.result import MAX_EXAMPLES, Reading
from core.data.trec.columns import WordColumns, group_queries
from rankery.identifiers import SeveralSpellings, encode_blanks

QRELS_COLUMNS = ("qid", "iteration", "docno", "relevance")
FORMAT = "trec-qrels"
_MAX_FLOAT32 = float(np.finfo(np.float32).max)


def read_qrels(text: Bytes, file: str, limits: Limits | None = None) -> Reading:
    """Read judgments as a dataset without features.

    Fractional relevances are kept, whereas trec_eval truncates them. Negative relevances are kept, too: such
    documents are judged, but not relevant. Lines that begin with # are comments, unless they are judgments of
    a query whose id begins with #.

    Args:
        text: (n_bytes,) the bytes of the file.
        file: Name of the file for messages.

    Raises:
        DatasetError: With up to 100 mistakes, each with its position. Mistakes are a line without four words,
            an invalid id, a relevance that is not a finite float32 number, or a repeated document of a query.
    """
    columns = WordColumns(text, file, QRELS_COLUMNS, limits or Limits(), comments=True)
    labels = columns.numbers("relevance", "a relevance, a number finite in float32", _MAX_FLOAT32)
    spellings = SeveralSpellings()
    grouping, documents = group_queries(columns.identifiers("qid", spellings)), columns.identifiers("docno")
    columns.refuse_repeated(grouping.query_of_row, documents)
    if grouping.order is not None:
        labels, documents = labels[grouping.order], documents.take(grouping.order)
    dataset = RankingDataset(
        features=np.empty((len(labels), 0), np.float32),
        labels=labels.astype(np.float32),
        query_boundaries=grouping.query_boundaries,
        query_ids=grouping.query_ids,
        document_ids=documents,
        feature_names=(),
    )
    examples = grouping.scattered_ids[:MAX_EXAMPLES]
    return Reading(dataset, FORMAT, len(grouping.scattered), examples, tuple(spellings.several))


def write_qrels(batches: Iterable[pa.RecordBatch]) -> Iterator[str]:
    """Write judgments as qrels, a block of lines at a time.

    Documents without a label are left out. Fractional labels are written unchanged, although trec_eval reads
    only whole relevances.

    Args:
        batches: Columns query_id, document_id and label, sorted by query.
    """
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in ("query_id", "document_id", "label"))
        yield "".join(
            f"{encode_blanks(query)} 0 {encode_blanks(document)} {label_text(label)}\n"
            for query, document, label in zip(*columns, strict=True)
            if not math.isnan(label)
        )
