"""Memory of a worker by phase, for data that exceed its memory limit: ingestion, training, evaluation.

A Parquet file is written in blocks, uploaded, and trained on with a part held out for the test. Peaks come
from the reports of the jobs, and from `/proc` for the processes of the worker: anonymous memory, which the
limit bounds, and resident memory, which counts mapped pages that the system may drop at any time.
"""

import argparse
import os
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.processes import peak_memory
from rankery.client import Client, Job
from rankery.embedded.stack import EmbeddedStack

GIBIBYTE = 2**30
TIMEOUT_SECONDS = 4 * 3600.0
DOCUMENTS_PER_QUERY = 120
BLOCK_QUERIES = 500


def write_parquet(path: Path, n_documents: int, n_features: int) -> None:
    """Write documents in blocks: labels depend on some features, which have three digits."""
    n_queries = n_documents // DOCUMENTS_PER_QUERY
    names = [f"f{number}" for number in range(1, n_features + 1)]
    types = {"label": pa.float32(), "query": pa.int32(), **dict.fromkeys(names, pa.float32())}
    schema = pa.schema([pa.field(*column) for column in types.items()])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for first in track(range(0, n_queries, BLOCK_QUERIES), "writing the file"):
            generator = np.random.default_rng(first)
            last = min(first + BLOCK_QUERIES, n_queries)
            shape = n_features, (last - first) * DOCUMENTS_PER_QUERY
            features = generator.integers(0, 1_000, shape).astype(np.float32) / np.float32(100)
            noise = generator.normal(0, 2, features.shape[1])
            labels = np.clip((features[:8].sum(axis=0) - 40 + noise) / 4, 0, 4).round().astype(np.float32)
            queries = np.repeat(np.arange(first, last, dtype=np.int32), DOCUMENTS_PER_QUERY)
            writer.write_table(pa.table([labels, queries, *features], schema=schema))


def main() -> None:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=12_000_000)
    parser.add_argument("--features", type=int, default=220)
    parser.add_argument("--limit-gib", type=float, default=8.0)
    parser.add_argument(
        "--folder",
        help="folder of the file and the service's data; needs four times the size of the float32 matrix",
    )
    arguments = parser.parse_args()
    console = Console()
    floats = 4 * arguments.documents * arguments.features
    os.environ["RANKERY_JOB_MEMORY_BYTES"] = str(int(arguments.limit_gib * GIBIBYTE))
    with tempfile.TemporaryDirectory(prefix="rankery-bench-", dir=arguments.folder) as name:
        path = Path(name) / "large.parquet"
        write_parquet(path, arguments.documents, arguments.features)
        console.print(
            f"{arguments.documents:,} x {arguments.features}: {floats / GIBIBYTE:.1f} GiB of float32,"
            f" {path.stat().st_size / GIBIBYTE:.1f} GiB of Parquet, limit {arguments.limit_gib:g} GiB"
        )
        with EmbeddedStack(Path(name) / "service") as stack, Client(stack.url) as client:
            warm_up = client.synthetic_dataset(20, name="warm-up").wait(timeout_seconds=TIMEOUT_SECONDS)
            _train(client, warm_up.id)
            with peak_memory(stack.processes["worker"]) as most:
                with console.status("uploading"):
                    dataset = client.upload_dataset(path, name="large")
                path.unlink()
                with console.status("reading"):
                    dataset.wait(timeout_seconds=TIMEOUT_SECONDS)
                _print(console, "ingestion", client.job(str(dataset.job_id)), most)
            with peak_memory(stack.processes["worker"]) as most, console.status("training"):
                job = _train(client, dataset.id)
            _print(console, "training and evaluation", job, most)


def _train(client: Client, dataset_id: str) -> Job:
    job = client.submit(
        {
            "kind": "train",
            "model_name": "large",
            "dataset_id": dataset_id,
            "validation": {"fraction": 0.1},
            "test": {"fraction": 0.1},
            "loss": {"name": "lambdarank"},
            "metrics": ["ndcg@10"],
            "hyperparameters": {"num_iterations": 20, "num_leaves": 64},
        }
    )
    return job.wait(timeout_seconds=TIMEOUT_SECONDS)


def _print(console: Console, title: str, job: Job, most: dict[str, int]) -> None:
    table = Table("phase", "seconds", "peak MiB", title=title)
    for phase in job.phases:
        peak = phase.peak_memory_bytes
        table.add_row(phase.phase, f"{phase.seconds:.1f}", "" if peak is None else f"{peak / 2**20:,.0f}")
    console.print(table)
    console.print(
        f"peak of one process, with the memory that it already held: {most['RssAnon'] / 2**20:,.0f} MiB"
        " anonymous,"
        f" {most['VmRSS'] / 2**20:,.0f} MiB with mapped pages; metrics {job.metrics}"
    )


if __name__ == "__main__":
    main()
