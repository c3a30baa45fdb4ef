"""Labels as a job asks for them."""

from core.data import RankingDataset
from core.data.labels import LabelRange, label_map, map_labels
from core.jobs.measures import Measures
from core.losses import Loss
from core.training.labels import check_labels
from worker.datasets import load_dataset
from worker.jobs import JobRun


def load_judged(run: JobRun, dataset_id: str, measures: Measures) -> RankingDataset:
    """Load a dataset with the labels that a job's metrics shall see.

    Raises:
        InvalidInput: The metrics cannot use them.
    """
    loaded = load_dataset(run.store, run.caches, dataset_id).dataset
    return judged_for(measures, loaded, None)


def judged_for(measures: Measures, dataset: RankingDataset, loss: Loss | None) -> RankingDataset:
    """Return a dataset with its labels mapped as a job asks.

    Args:
        measures: What measures it, and the labels to replace.
        dataset: The dataset as it was judged.
        loss: What trains on it, or None.

    Raises:
        InvalidInput: Loss or metrics cannot use the labels.
    """
    mapped = map_labels(dataset, label_map(measures.label_map))
    check_labels(LabelRange.of(mapped.labels), loss, measures.metrics, measures.contract)
    return mapped
