"""No job and no call of the library waits for a kernel to be compiled."""

from pathlib import Path

import pytest

from tests.compiling import left_to_compile

WORK = """
import pathlib, sys
from core.warm_up import warm_up
from core.losses import LOSSES
from core.store import Store
from core.store.artifacts.keys import query_sizes_key, dataset_upload_key
from core.store.artifacts.keys import run_key
from tests.rankery.library import test_read_only_arrays as library
from worker import WorkerSettings
from worker.process.shutdown import StopFlag
from worker.process.tasks import RUNNERS, run_jobs

warm_up()
warm_up_ends()
settings = WorkerSettings(data_dir=pathlib.Path(sys.argv[1]), broker_url="redis://127.0.0.1:1/0")
store = Store.open(settings)
store.migrate()

def run(kind, **spec):
    with store.begin() as tx:
        job = tx.jobs.add(kind, {"metrics": ["ndcg@5", "map", "mrr"], **spec})
    run_jobs(store, settings, StopFlag(), "w1", RUNNERS)
    with store.read() as tx:
        job = tx.jobs.get(job.id)
    assert job.status == "succeeded", job.problem
    return job.result

def upload(lines, sizes=None):
    source = {"kind": "upload", "filename": "d.txt", "format": "auto"}
    if sizes:
        source["query_sizes_filename"] = "d.txt.query"
    with store.begin() as tx:
        dataset = tx.datasets.add("d", source)
    store.artifacts.write_bytes(dataset_upload_key(dataset.id), "".join(lines).encode())
    if sizes:
        store.artifacts.write_bytes(query_sizes_key(dataset.id), sizes.encode())
    run("ingest", dataset_id=dataset.id)
    return dataset.id

rows = [(query, document) for query in range(20) for document in range(6)]
values = [f"1:{document * 0.3} 2:{query * 1e-3 + document % 2}" for query, document in rows]
labels = [(query + document) % 3 for query, document in rows]
plain = upload(f"{y} qid:{q} {x} # d{k}\\n" for (q, k), y, x in zip(rows, labels, values))
scattered = upload(f"{y} qid:{k} {x}\\n" for (q, k), y, x in zip(rows, labels, values))
upload((f"{y} {x}\\n" for y, x in zip(labels, values)), sizes="6\\n" * 20)
for loss in LOSSES:
    for _ in range(2 if loss == "lambdarank" else 1):  # the second time from caches
        trained = run(
            "train",
            dataset_id=plain,
            model_name="m",
            loss={"name": loss},
            validation={"fraction": 0.3},
            test_dataset_id=scattered,
            hyperparameters={"num_iterations": 2, "min_data_in_leaf": 2},
            diagnostics={"interval": 1, "cutoff": 3},
        )
model = {"model_id": trained["model_id"], "system": "m:1"}
run(
    "evaluate",
    dataset_id=scattered,
    diagnostics={"loss": {"name": "lambdarank"}, "cutoff": 3},
    contract="trec_eval",
    seed=1,
    **model,
)
ranking_id = run("rank", dataset_id=scattered, **model)["ranking_id"]
systems = [model, {"ranking_id": ranking_id, "system": "again"}]
run("compare", dataset_id=scattered, systems=systems, contract="default", permutations=1000, seed=1)
with store.begin() as tx:
    first = tx.aliases.move("m", "champion", 1).model_id
run(
    "promote",
    model_name="m",
    alias="champion",
    systems=[{"model_id": first, "system": "m:1"}, {**model, "system": "m:2"}],
    dataset_id=scattered,
    metrics=["ndcg@5"],
    rule={"metric": "ndcg@5", "p": 1e-9},
    contract="default",
    permutations=1000,
    seed=1,
)
run(
    "inspect",
    dataset_id=plain,
    metric="ndcg@5",
    contract="default",
    repeats=1,
    within="query",
    partial_dependence={"features": None, "grid": 4, "sample": 10},
    seed=1,
    **model,
)
store.artifacts.write_bytes(run_key("u"), b"0 Q0 d1 1 0.5 tag\\n1 Q0 d2 1 0.5 tag\\n")
run("import", dataset_id=plain, upload_id="u", filename="r", name="r")

for work in library.WORKS:
    work(library.arrays(writable=False))
"""


@pytest.mark.long
def test_warming_up_compiles_the_kernels_of_jobs_and_of_the_library(tmp_path: Path) -> None:
    """Jobs on judged data, with every loss, find each kernel in the cache, for the types that they use.

    The library finds each kernel for read-only arrays, too.
    """
    assert left_to_compile(WORK, tmp_path) == []
