"""Judged data: reading, describing, splitting, storing and making it."""

from core.data.dataset import RankingDataset
from core.data.letor_writer import write_letor
from core.data.options import FORMATS
from core.data.parquet import read_parquet, write_parquet
from core.data.reading import read_dataset
from core.data.splits import split_queries
from core.data.statistics import dataset_statistics
from core.data.synthetic import sparse_dataset, synthetic_dataset

__all__ = [
    "FORMATS",
    "RankingDataset",
    "dataset_statistics",
    "read_dataset",
    "read_parquet",
    "sparse_dataset",
    "split_queries",
    "synthetic_dataset",
    "write_letor",
    "write_parquet",
]
