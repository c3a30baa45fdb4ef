"""Labels as a job asks for them."""

from collections.abc import Sequence
from typing import Any

from core.data import RankingDataset
from core.data.labels import LabelRange, label_map, map_labels
from core.losses import Loss
from core.metrics import conventions
from core.training.labels import check_labels
from worker.datasets import load_dataset
from worker.jobs import JobRun


def load_judged(run: JobRun, dataset_id: str) -> RankingDataset:
    """Load a dataset with the labels that a job's metrics shall see.

    Raises:
        InvalidInput: The metrics cannot use them.
    """
    loaded = load_dataset(run.store, run.caches, dataset_id).dataset
    return judged_for(run.spec, loaded, None, run.spec["metrics"])


def judged_for(
    spec: dict[str, Any], dataset: RankingDataset, loss: Loss | None, metrics: Sequence[str]
) -> RankingDataset:
    """Return a dataset with its labels mapped as a job asks.

    Args:
        spec: The job as it was submitted.
        dataset: The dataset as it was judged.
        loss: What trains on it, or None.
        metrics: What measures it.

    Raises:
        InvalidInput: Loss or metrics cannot use the labels.
    """
    mapped = map_labels(dataset, label_map(spec.get("label_map") or {}))
    check_labels(LabelRange.of(mapped.labels), loss, metrics, conventions(spec.get("contract")))
    return mapped
