"""Result of reading a file."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.data.dataset import RankingDataset
from core.data.grouping import Grouping

MAX_EXAMPLES = 10


@dataclass(frozen=True, eq=False)
class Reading:
    """A dataset with facts about its file.

    Attributes:
        dataset: The judged documents.
        format: Detected format: letor, lightgbm, csv, parquet or trec-qrels.
        scattered_queries: Queries whose rows were not contiguous and were gathered.
        scattered_examples: The ids of the first of them, at most `MAX_EXAMPLES`.
        several_spellings: The ids of queries that the file spells in several ways: `1` and `1.0`.
        grouping: How the rows of the file make queries; None where no row names its query.
        named: bool (n_documents,) whether the file names the document, whose id is else its row number within
            the query; None where it names none.
        size_bytes: Size of the file, once gzip or Zstandard data are unpacked.
    """

    dataset: RankingDataset
    format: str
    scattered_queries: int = 0
    scattered_examples: tuple[str, ...] = ()
    several_spellings: tuple[str, ...] = ()
    grouping: Grouping | None = None
    named: npt.NDArray[np.bool_] | None = None
    size_bytes: int = 0
