"""Result of reading a file."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.data.dataset import RankingDataset
from core.data.grouping import Grouping

MAX_EXAMPLES = 10


@dataclass(frozen=True, eq=False)
class Reading:
    """A dataset, and properties of the file that it was read from.

    Attributes:
        dataset: The judged documents.
        format: Detected format: letor, lightgbm, csv, parquet or trec-qrels.
        scattered_queries: Number of queries whose rows were not contiguous and were gathered.
        scattered_examples: Ids of the first such queries, at most `MAX_EXAMPLES`.
        several_spellings: The ids of queries that the file spells in several ways: `1` and `1.0`.
        grouping: Assignment of the file's rows to queries; None where rows have no query id, and for qrels.
        named: (n_documents,) whether the document id is from the file; otherwise it is the row number within
            the query. None for tables without a document column, and without `grouping`.
        size_bytes: Size of the file, after unpacking gzip or Zstandard data; 0 without `grouping`.
    """

    dataset: RankingDataset
    format: str
    scattered_queries: int = 0
    scattered_examples: tuple[str, ...] = ()
    several_spellings: tuple[str, ...] = ()
    grouping: Grouping | None = None
    named: npt.NDArray[np.bool_] | None = None
    size_bytes: int = 0
