"""Reading the files of a dataset on the workers of a Dask cluster."""

import os
import shutil
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from core.data.options import Limits, reading_options
from core.data.part_files.part import Part
from core.data.reading import JudgedFile, form_of_file
from core.errors import ClusterUnavailable, DatasetError, JobCancelled
from core.store import Store
from core.store.data_files import DataFiles
from tests.integration.waiting import wait_for
from tests.servers.dask import DaskCluster, running_cluster
from tests.servers.process import reserved_port
from tests.worker.test_folder_files import OPTIONS, Corpus, assert_equals_whole, judged_table, write_parts
from worker import WorkerSettings
from worker.dask.cluster import cluster_client
from worker.dask.settings import DaskSettings
from worker.job.dask_reading import DaskReader
from worker.job.part_reading import LocalReader, OnFraction, PartTask

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("ranks")]

N_ROWS = 60_000  # with four copies of each row, a file takes seconds to read


@pytest.fixture
def root(dask_root: Path) -> Iterator[Path]:
    """The data root of the Dask workers, with a whole file and its parts."""
    write_parts(dask_root / "clicks", judged_table())
    yield dask_root
    for folder in dask_root.iterdir():
        shutil.rmtree(folder)


@pytest.fixture
def cluster(request: pytest.FixtureRequest, tmp_path: Path, dask_root: Path) -> Iterator[DaskCluster]:
    """The shared cluster, or a separate cluster if the parameter is true."""
    if not getattr(request, "param", False):
        yield request.getfixturevalue("dask_cluster")
        return
    with running_cluster(tmp_path / "dask", environment={"RANKERY_DATA_ROOTS": str(dask_root)}) as cluster:
        yield cluster


@pytest.fixture
def client(cluster: DaskCluster) -> Iterator[Any]:
    """A client of the cluster after its workers have connected."""
    with cluster_client(DaskSettings.model_validate(cluster.settings)) as client:
        client.wait_for_workers(2, timeout=20)
        yield client


def tasks_of(root: Path, folder: str, options: dict[str, Any]) -> list[PartTask]:
    """Return the tasks of the files in a folder."""
    files = DataFiles([root], 1.0).find(folder, "part-*")
    first = JudgedFile(root / folder / files.names[0], files.names[0])
    form = form_of_file(first, reading_options(options), Limits())
    return [PartTask(folder, name, form, options, Limits()) for name in files.names]


def slow_tasks(root: Path, count: int = 2) -> list[PartTask]:
    """Return the tasks of files that take seconds to read."""
    values = np.random.default_rng(0).random((N_ROWS, 20))
    header = ",".join(["query_id", "label", *(f"x{number}" for number in range(20))])
    rows = "".join(
        f"q{row // 50},{row % 3},{','.join(f'{value:.6f}' for value in line)}\n"
        for row, line in enumerate(values.tolist())
    )
    (root / "slow").mkdir()
    for number in range(count):
        (root / "slow" / f"part-{number}.csv").write_text(f"{header}\n{rows * 4}")
    return tasks_of(root, "slow", {})


def read(reader: DaskReader | LocalReader, tasks: Sequence[PartTask], on_fraction: OnFraction) -> list[Part]:
    """Read files and return them in their order."""
    parts: dict[int, Part] = {}
    reader.read(tasks, parts.__setitem__, on_fraction)
    return [parts[index] for index in range(len(tasks))]


def ignore(*_: Any) -> None:
    """Ignore the arguments."""


def rows_of(parts: Sequence[Part]) -> list[tuple[str, str, bytes]]:
    """Return the file name, checksum and rows of each part."""
    return [(part.file, part.sha256, part.rows.tobytes()) for part in parts]


def test_dask_workers_read_like_the_local_process(client: Any, root: Path) -> None:
    """Dask workers return the rows of a local reader, and report progress up to the end of each file."""
    tasks = tasks_of(root, "clicks/parts", OPTIONS)
    reported: list[tuple[int, float]] = []
    parts = read(DaskReader(client, ignore), tasks, lambda *one: reported.append(one))
    assert rows_of(parts) == rows_of(read(LocalReader(DataFiles([root], 1.0), 1), tasks, ignore))
    assert {place for place, fraction in reported if fraction == 1} == {0, 1, 2, 3}


def test_a_file_that_cannot_be_read_is_named(client: Any, root: Path) -> None:
    """The error has the row and column, like that of a local reader."""
    path = root / "clicks" / "parts" / "part-2.parquet"
    table = pq.read_table(path)
    tasks = tasks_of(root, "clicks/parts", OPTIONS)
    pq.write_table(table.set_column(1, "label", [["x"] * len(table)]), path)
    with pytest.raises(DatasetError) as caught:
        read(DaskReader(client, ignore), tasks, ignore)
    with pytest.raises(DatasetError) as here:
        read(LocalReader(DataFiles([root], 1.0), 1), tasks, ignore)
    assert caught.value.problems == here.value.problems
    assert caught.value.problems[0].file == "part-2.parquet"
    assert caught.value.causes == here.value.causes


def busy_worker(client: Any) -> int | None:
    """Return the process id of a worker that reads a file, None if no worker does."""
    busy = [address for address, keys in client.processing().items() if keys]
    if not busy:
        return None
    pid: int = client.run(os.getpid, workers=busy[:1])[busy[0]]
    return pid


def executed(client: Any) -> dict[str, int]:
    """Return the number of tasks that each worker has executed."""
    counts: dict[str, int] = client.run(lambda dask_worker: dask_worker.state.executed_count)
    return counts


def occupied(client: Any) -> dict[str, int]:
    """Return the number of tasks that occupy a thread of each worker, including cancelled ones."""
    counts: dict[str, int] = client.run(lambda dask_worker: len(dask_worker.state.all_running_tasks))
    return counts


def test_parts_read_by_two_workers_equal_one_file(
    cluster: DaskCluster, client: Any, root: Path, store: Store, settings: WorkerSettings
) -> None:
    """The stored bytes, statistics and findings equal those of one file with all rows."""
    alone = Corpus(root, store, settings)
    distributed = Corpus(root, store, settings.model_copy(update=cluster.settings))
    source = distributed.source("clicks/parts")
    wait_for(lambda: not any(occupied(client).values()))  # cancelled tasks of earlier tests may still run
    before = executed(client)
    parts = distributed.ingest(source)
    counts = [count - before[worker] for worker, count in executed(client).items()]
    assert sum(counts) == len(source["filenames"]) == 4
    assert all(counts)
    whole = alone.ingest(alone.source("clicks", "whole.parquet"))
    assert_equals_whole(alone, parts, whole)
    again = alone.ingest(source)
    assert (again.digest, again.data_key) == (parts.digest, parts.data_key)


@pytest.mark.slow
@pytest.mark.parametrize("cluster", [True], indirect=True, ids=["own"])
def test_the_file_of_a_killed_worker_is_read_again(client: Any, root: Path) -> None:
    """Another worker reads the file, and the result is the same."""
    tasks = slow_tasks(root)
    killed: list[int] = []

    def kill(place: int, fraction: float) -> None:
        pid = None if killed else busy_worker(client)
        if pid is not None and 0 < fraction < 1:
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)

    parts = read(DaskReader(client, ignore), tasks, kill)
    assert killed
    assert rows_of(parts) == rows_of(read(LocalReader(DataFiles([root], 1.0), 1), tasks, ignore))


@pytest.mark.slow
def test_a_cancelled_job_ends_the_reading(client: Any, root: Path) -> None:
    """The reading ends before all files are read, and the workers stop as well."""
    tasks = slow_tasks(root, count=6)
    cancelled: list[int] = []
    read_places: list[int] = []

    def check() -> None:
        if cancelled:
            raise JobCancelled("job_1")

    reader = DaskReader(client, check)
    with pytest.raises(JobCancelled):
        reader.read(
            tasks, lambda place, _: read_places.append(place), lambda place, _: cancelled.append(place)
        )
    assert len(read_places) < len(tasks)
    wait_for(lambda: not any(client.run(lambda dask_worker: len(dask_worker.state.tasks)).values()))


# Dask does not close the socket of a refused connection attempt itself.
@pytest.mark.filterwarnings("ignore:unclosed <ssl.SSLSocket:ResourceWarning")
@pytest.mark.slow
@pytest.mark.parametrize("cluster", [True], indirect=True, ids=["own"])
@pytest.mark.parametrize("lost", ["scheduler killed", "scheduler stopped", "workers killed"])
def test_a_lost_cluster_ends_the_reading(cluster: DaskCluster, client: Any, root: Path, lost: str) -> None:
    """The reader raises a transient error, after which the job is retried."""
    tasks = slow_tasks(root)

    def lose(*_: Any) -> None:
        if lost == "scheduler stopped":
            os.kill(cluster.scheduler.pid or 0, signal.SIGSTOP)
        for each in {"scheduler killed": [cluster.scheduler], "workers killed": cluster.workers}.get(
            lost, []
        ):
            each.kill()

    with pytest.raises(ClusterUnavailable, match=r"scheduler was lost|no Dask worker is connected"):
        read(DaskReader(client, ignore, patience_seconds=2.0), tasks, lose)


def test_an_unavailable_cluster_fails_the_last_attempt(
    tmp_path: Path, store: Store, settings: WorkerSettings
) -> None:
    """After the last attempt, the job fails with the reason."""
    write_parts(tmp_path / "corpora" / "clicks", judged_table())
    with reserved_port() as port:
        unreachable = {"dask_scheduler": f"tcp://127.0.0.1:{port}", "attempts": 1}
        corpus = Corpus(tmp_path / "corpora", store, settings.model_copy(update=unreachable))
        dataset = corpus.ingest(corpus.source("clicks/parts"))
    assert dataset.status == "invalid"
    assert dataset.problem is not None
    assert "the Dask scheduler at tcp://127.0.0.1" in dataset.problem["detail"]
