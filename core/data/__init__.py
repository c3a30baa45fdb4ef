"""Read, describe, split, store and generate judged datasets."""

from typing import TYPE_CHECKING

from rankery.lazy_names import lazy_names

if TYPE_CHECKING:
    from core.data.dataset import RankingDataset
    from core.data.letor_writer import write_letor
    from core.data.parquet import read_parquet, write_parquet
    from core.data.reading import read_dataset
    from core.data.splits import split_queries
    from core.data.statistics import dataset_statistics
    from core.data.synthetic import sparse_dataset, synthetic_dataset

# Imported lazily: a caller that needs only the upload options imports neither Arrow nor the parsers.
__getattr__ = lazy_names(__name__)
