"""One service for all pages, with the datasets and the model that the quick start creates."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.data import synthetic_dataset, write_letor
from rankery import Client
from rankery.embedded.stack import EmbeddedStack

ROOT = Path(__file__).parents[2]
COMMANDS = Path(__file__).parent / "commands"


@pytest.fixture(scope="package")
def guide_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the service for the pages, at another port than the pages use."""
    roots = tmp_path_factory.mktemp("corpora")
    _make_fold(roots / "MSLR-WEB30K" / "Fold1")
    _make_parts(roots / "clicks" / "2026-05")
    environment = {"RANKERY_DATA_ROOTS": str(roots)}
    folder = tmp_path_factory.mktemp("guide")
    with EmbeddedStack(folder, host="127.0.0.1", port=0, environment=environment) as stack:
        yield stack.url


def _make_fold(folder: Path) -> None:
    """Write files with the layout of a fold of MSLR-WEB30K."""
    folder.mkdir(parents=True)
    for seed, name in enumerate(("train.txt", "vali.txt", "test.txt")):
        dataset = synthetic_dataset(9, seed=seed, documents_per_query=8, n_features=136)
        with (folder / name).open("wb") as file:
            write_letor(dataset, file)


def _make_parts(folder: Path) -> None:
    """Write three files of 12 queries with 8 documents; two queries have rows in two files."""
    folder.mkdir(parents=True)
    rows = pa.table(
        {
            "query_id": [f"q{row // 8}" for row in range(96)],
            "label": [row % 3 for row in range(96)],
            "bm25": [row / 7 for row in range(96)],
        }
    )
    for number, (first, last) in enumerate([(0, 30), (30, 61), (61, 96)]):
        pq.write_table(rows.slice(first, last - first), folder / f"part-{number}.parquet")


@pytest.fixture(scope="package")
def prepared(guide_service: str) -> None:
    """Make the objects that pages use: the datasets `web-train` and `web-test`, and two versions of `web`."""
    with Client(guide_service) as client:
        train = client.synthetic_dataset(60, seed=1, name="web-train").wait()
        test = client.synthetic_dataset(40, seed=2, name="web-test").wait()
        jobs = [
            client.train(
                "web", train, loss, test=test, hyperparameters={"num_iterations": 10, "num_leaves": 8}
            )
            for loss in ("lambdarank", "ndcg-loss2++")
        ]
        for job in jobs:
            job.wait()


@pytest.fixture(scope="package")
def environment(guide_service: str) -> Mapping[str, str]:
    """The environment variables for commands of the pages."""
    return {
        **os.environ,
        "NO_COLOR": "1",
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
        "PATH": f"{COMMANDS}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "RANKERY_TEST_PYTHON": sys.executable,
        "RANKERY_TEST_ROOT": str(ROOT),
        "RANKERY_URL": guide_service,
        "POSTGRES_PASSWORD": "p",
        "REDIS_PASSWORD": "r",
    }
