"""Turning what was sent, or asked for, into a dataset that is ready to train on."""

from typing import Any

from core.data import RankingDataset, dataset_statistics, read_dataset, synthetic_dataset, write_parquet
from core.store import Dataset, Store
from worker.datasets import parquet_key, upload_key
from worker.jobs import JobRun


def run_ingestion(run: JobRun) -> None:
    """Read or make a dataset, describe it and store it.

    A dataset that cannot be read becomes invalid with the job's problem when the job fails.

    Raises:
        DatasetError: With the line and column of what cannot be understood.
    """
    dataset_id: str = run.spec["dataset_id"]
    with run.store.read() as tx:
        row = tx.datasets.get(dataset_id)
    run.phase("reading")
    dataset = _obtain(run.store, row)
    run.phase("storing")
    statistics = dataset_statistics(dataset)
    with run.writing(parquet_key(dataset_id)) as file:
        write_parquet(dataset, file)
    with run.succeeding({"dataset_id": dataset_id}) as tx:
        tx.datasets.mark_ready(dataset_id, statistics=statistics)


def _obtain(store: Store, row: Dataset) -> RankingDataset:
    source: dict[str, Any] = row.source
    if source["kind"] == "synthetic":
        return synthetic_dataset(source["queries"], source["seed"], source["polynomial_seed"])
    with store.artifacts.local(upload_key(row.id)) as path:
        return read_dataset(path, source.get("format") or "auto", name=source.get("filename"))
