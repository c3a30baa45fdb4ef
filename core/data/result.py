"""What reading a file gives."""

from dataclasses import dataclass

from core.data.dataset import RankingDataset

MAX_EXAMPLES = 10


@dataclass(frozen=True, eq=False)
class Reading:
    """A dataset, and what was learnt about its file on the way.

    Attributes:
        dataset: The judged documents.
        format: What the file turned out to be: letor, lightgbm, csv, parquet or trec-qrels.
        scattered_queries: Queries whose rows did not stand together and were gathered.
        scattered_examples: The ids of the first of them, at most `MAX_EXAMPLES`.
    """

    dataset: RankingDataset
    format: str
    scattered_queries: int = 0
    scattered_examples: tuple[str, ...] = ()
